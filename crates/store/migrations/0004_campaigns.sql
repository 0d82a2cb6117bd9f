-- Where pushes come from that nobody asked for directly, and to which part of their audience they go. A push without a row
-- was sent through the API to all of its audience.
create table push_origin (
  app bigint not null,
  push blob not null,
  kind text not null,
  origin blob not null,
  -- Pushes of one origin with the same run share their audience among them.
  run text,
  part text not null,
  primary key (app, push)
);

create index push_origin_by_origin on push_origin (app, origin, push);
create index push_origin_by_run on push_origin (app, origin, run) where run is not null;
