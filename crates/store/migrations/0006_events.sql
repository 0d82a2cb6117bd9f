-- Who reads the log in order to do something about it, and how far each has got. A follower has a job with the same id.
create table follower (
  app bigint not null,
  id blob not null,
  -- The offset of the last event it is done with.
  position bigint not null,
  -- It is left alone until then, because what it does has failed.
  retry_at bigint not null,
  primary key (app, id)
);

-- Counts per hour and platform of one push.
create table push_counter (
  app bigint not null,
  push blob not null,
  metric text not null,
  hour bigint not null,
  platform text not null,
  n bigint not null,
  primary key (app, push, metric, hour, platform)
);

-- Events that came in with an id of their own, by the hour they happened in, so that a repeat is recognized.
create table seen_event (
  app bigint not null,
  hour bigint not null,
  id blob not null,
  primary key (app, hour, id)
);
