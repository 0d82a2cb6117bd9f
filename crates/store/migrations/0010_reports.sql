-- The counts of an app per day: what hours add up to, so that a year of days is read from hundreds of rows.
create table counter_day (
  app bigint not null,
  metric text not null,
  day bigint not null,
  platform text not null,
  n bigint not null,
  primary key (app, metric, day, platform)
);

insert into counter_day (app, metric, day, platform, n)
select app, metric, hour / 24, platform, cast(sum(n) as bigint) from counter group by app, metric, hour / 24, platform;

-- Listings of pushes go from the newest to the oldest.
create index push_by_created on push (app, created, id);

-- The counts of custom events per day, whatever push they are attributed to, for the same reason.
create table event_counter_day (
  app bigint not null,
  day bigint not null,
  name text not null,
  conversion text not null,
  n bigint not null,
  -- Millionths, as in the counts per hour.
  value double precision not null,
  primary key (app, day, name, conversion)
);

insert into event_counter_day (app, day, name, conversion, n, value)
select app, hour / 24, name, conversion, cast(sum(n) as bigint), sum(value) from event_counter
group by app, hour / 24, name, conversion;
