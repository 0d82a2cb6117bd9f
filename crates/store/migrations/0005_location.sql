-- Where channels were last seen: the terms of the places they were in, and when. Coordinates are not kept.
create table last_place (
  app bigint not null,
  ordinal bigint not null,
  seen bigint not null,
  terms blob not null,
  primary key (app, ordinal)
);
-- What is too old to be kept is looked for every hour.
create index last_place_by_seen on last_place (app, seen);
