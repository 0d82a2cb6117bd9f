-- Counts for reports. Hours and days are counted since 1970 in UTC. `platform` is a device type. Every count
-- per hour of an app or a group is also added to its day, so that a year is read from hundreds of rows.

create table counter (
    app bigint not null,
    metric text not null,
    hour bigint not null,
    platform text not null,
    n bigint not null,
    primary key (app, metric, hour, platform)
);

create table counter_day (
    app bigint not null,
    metric text not null,
    day bigint not null,
    platform text not null,
    n bigint not null,
    primary key (app, metric, day, platform)
);

create table push_counter (
    app bigint not null,
    push blob not null,
    metric text not null,
    hour bigint not null,
    platform text not null,
    n bigint not null,
    primary key (app, push, metric, hour, platform)
);

-- The sums over all pushes of a schedule, an experiment or a pipeline, also of those that are no longer kept.
create table group_counter (
    app bigint not null,
    grp blob not null,
    metric text not null,
    hour bigint not null,
    platform text not null,
    n bigint not null,
    primary key (app, grp, metric, hour, platform)
);

create table group_counter_day (
    app bigint not null,
    grp blob not null,
    metric text not null,
    day bigint not null,
    platform text not null,
    n bigint not null,
    primary key (app, grp, metric, day, platform)
);

-- Custom events. Values are sums in millionths: whole numbers, so that a sum does not depend on the order.
create table event_counter (
    app bigint not null,
    hour bigint not null,
    name text not null,
    -- 'direct', 'indirect' or 'unattributed'.
    conversion text not null,
    -- The push that the events are attributed to; empty for none.
    push blob not null,
    n bigint not null,
    value double precision not null,
    primary key (app, hour, name, conversion, push)
);
create index event_counter_by_push on event_counter (app, push);

-- The same per day, whatever push the events are attributed to.
create table event_counter_day (
    app bigint not null,
    day bigint not null,
    name text not null,
    conversion text not null,
    n bigint not null,
    value double precision not null,
    primary key (app, day, name, conversion)
);

-- The same for the pushes of a schedule, an experiment or a pipeline, over all time.
create table group_event (
    app bigint not null,
    grp blob not null,
    name text not null,
    conversion text not null,
    n bigint not null,
    value double precision not null,
    primary key (app, grp, name, conversion)
);
