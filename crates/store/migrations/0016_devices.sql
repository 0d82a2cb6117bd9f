-- Whether devices may say by themselves whose they are.
alter table app add column device_associations bigint not null default 1;

-- Requests that devices have signed, as long as they could be sent again; slots are minutes since 1970.
create table signed_request (
  app bigint not null,
  slot bigint not null,
  mark blob not null,
  primary key (app, slot, mark)
);

-- Devices from before they were counted. What is missing is what there is less what was counted: those that came, by the hour; those that left,
-- of whom it is not known when, at the last time that one of them registered; those that are opted in, from the beginning on.
create table uncounted (
  app bigint not null,
  metric text not null,
  hour bigint not null,
  platform text not null,
  n bigint not null
);

insert into uncounted (app, metric, hour, platform, n)
select made.app, 'created', made.hour, made.platform, made.n - coalesce(counter.n, 0)
from (select app, created / 3600000 as hour, device_type as platform, count(*) as n
      from channel group by app, created / 3600000, device_type) as made
left join counter on counter.app = made.app and counter.metric = 'created' and counter.hour = made.hour
  and counter.platform = made.platform
where made.n > coalesce(counter.n, 0);

insert into uncounted (app, metric, hour, platform, n)
select there.app, 'uninstalled', there.hour, there.platform, counted.n - there.n
from (select app, device_type as platform, cast(sum(installed) as bigint) as n,
        max(case when installed = 0 then coalesce(last_registration, created) end) / 3600000 as hour
      from channel group by app, device_type) as there
join (select app, platform, cast(sum(case when metric = 'created' then n else -n end) as bigint) as n
      from (select app, metric, platform, n from counter where metric in ('created', 'uninstalled')
            union all select app, metric, platform, n from uncounted) as changes
      group by app, platform) as counted on counted.app = there.app and counted.platform = there.platform
where there.hour is not null and counted.n > there.n;

insert into uncounted (app, metric, hour, platform, n)
select there.app, 'opted_in', there.hour, there.platform, there.n - coalesce(counted.n, 0)
from (select app, device_type as platform, min(created) / 3600000 as hour,
        cast(sum(case when installed = 1 and profile like '%"opt_in":true%' then 1 else 0 end) as bigint) as n
      from channel group by app, device_type) as there
left join (select app, platform, cast(sum(case when metric = 'opted_in' then n else -n end) as bigint) as n
      from counter where metric in ('opted_in', 'opted_out') group by app, platform) as counted
  on counted.app = there.app and counted.platform = there.platform
where there.n > coalesce(counted.n, 0);

insert into counter (app, metric, hour, platform, n)
select app, metric, hour, platform, n from uncounted where n > 0
on conflict (app, metric, hour, platform) do update set n = counter.n + excluded.n;

insert into counter_day (app, metric, day, platform, n)
select app, metric, hour / 24, platform, cast(sum(n) as bigint) from uncounted where n > 0 group by app, metric, hour / 24, platform
on conflict (app, metric, day, platform) do update set n = counter_day.n + excluded.n;

drop table uncounted;
