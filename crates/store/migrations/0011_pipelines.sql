-- Channels that wait for a pipeline to send them something: those that are due at the same instant together, as the bitmaps of
-- their blocks. Each instant of a pipeline has one job.
create table pipeline_timer (
  app bigint not null,
  pipeline blob not null,
  due bigint not null,
  block bigint not null,
  members blob not null,
  primary key (app, pipeline, due, block)
);

-- Who is canceled leaves everything that waits in a block.
create index pipeline_timer_by_block on pipeline_timer (app, pipeline, block);

-- Whom a pipeline has sent something, by slices of time, for pipelines that may not send too often. Layer 0 has who got something
-- in a slice, layer 1 who got something twice, and so on. Slice -1 is all of time, and the pipeline of zeros is all of them.
create table pipeline_sent (
  app bigint not null,
  pipeline blob not null,
  slice bigint not null,
  layer bigint not null,
  block bigint not null,
  members blob not null,
  primary key (app, pipeline, block, slice, layer)
);

-- Slices are forgotten for all pipelines of an app at once.
create index pipeline_sent_by_slice on pipeline_sent (app, slice);

-- Whom a push is for that was set off by channels, until it is resolved.
create table push_audience (
  app bigint not null,
  push blob not null,
  block bigint not null,
  members blob not null,
  primary key (app, push, block)
);
