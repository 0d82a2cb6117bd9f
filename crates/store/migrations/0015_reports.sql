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
