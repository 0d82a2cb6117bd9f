-- The counts of all pushes together that a schedule, an experiment or a pipeline has sent, per hour and per day: what those of its pushes
-- add up to, however many there are and also when some of them are not kept any more.
create table group_counter (
  app bigint not null,
  grp blob not null,
  metric text not null,
  hour bigint not null,
  platform text not null,
  n bigint not null,
  primary key (app, grp, metric, hour, platform)
);

insert into group_counter (app, grp, metric, hour, platform, n)
select o.app, o.origin, c.metric, c.hour, c.platform, cast(sum(c.n) as bigint)
from push_origin o join push_counter c on c.app = o.app and c.push = o.push
where o.kind in ('schedule', 'experiment', 'pipeline') group by o.app, o.origin, c.metric, c.hour, c.platform;

create table group_counter_day (
  app bigint not null,
  grp blob not null,
  metric text not null,
  day bigint not null,
  platform text not null,
  n bigint not null,
  primary key (app, grp, metric, day, platform)
);

insert into group_counter_day (app, grp, metric, day, platform, n)
select app, grp, metric, hour / 24, platform, cast(sum(n) as bigint) from group_counter
group by app, grp, metric, hour / 24, platform;

-- The custom events that are attributed to any of them, over all time.
create table group_event (
  app bigint not null,
  grp blob not null,
  name text not null,
  conversion text not null,
  n bigint not null,
  -- Millionths, as in the counts per hour.
  value double precision not null,
  primary key (app, grp, name, conversion)
);

insert into group_event (app, grp, name, conversion, n, value)
select o.app, o.origin, c.name, c.conversion, cast(sum(c.n) as bigint), sum(c.value)
from push_origin o join event_counter c on c.app = o.app and c.push = o.push
where o.kind in ('schedule', 'experiment', 'pipeline') group by o.app, o.origin, c.name, c.conversion;

-- The messages of such a group, so that they can be taken out of all inboxes together.
alter table message add column grp blob;
update message set grp = (select origin from push_origin
  where push_origin.app = message.app and push_origin.push = message.push and kind in ('schedule', 'experiment', 'pipeline'));
create index message_by_group on message (app, grp, number) where grp is not null;

-- Messages of pushes whose audience is still to be chosen are not known yet. There are never many of these.
create index push_accepted on push (app, id) where state = 'accepted';
