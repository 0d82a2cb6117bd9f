-- Counts of custom events per hour, and the sum of their values.
create table event_counter (
  app bigint not null,
  hour bigint not null,
  name text not null,
  -- direct, indirect or unattributed.
  conversion text not null,
  -- The push that an event is attributed to; empty for those of none.
  push blob not null,
  n bigint not null,
  -- Millionths: whole numbers, so that sums do not depend on their order.
  value double precision not null,
  primary key (app, hour, name, conversion, push)
);

create index event_counter_by_push on event_counter (app, push);

-- The session that a channel has begun and not ended yet.
create table session (
  app bigint not null,
  ordinal bigint not null,
  id blob not null,
  opened bigint not null,
  primary key (app, ordinal)
);
