-- Where in time channels wait for a pipeline that can be canceled: the union of everybody who is due within a span of time, or was
-- when it was last looked at, so that whoever is canceled is looked for only where they may be. Nothing in it means that it is not known.
create table pipeline_span (
  app bigint not null,
  pipeline blob not null,
  block bigint not null,
  -- In milliseconds.
  width bigint not null,
  -- Counted from 1970.
  span bigint not null,
  members blob not null,
  primary key (app, pipeline, block, width, span)
);

-- Spans that are over are forgotten in all blocks at once.
create index pipeline_span_by_time on pipeline_span (app, pipeline, width, span);

insert into pipeline_span (app, pipeline, block, width, span, members)
  select distinct app, pipeline, block, 65536000, due / 65536000, cast('' as blob) from pipeline_timer;

drop index pipeline_timer_by_block;
create index pipeline_timer_by_block on pipeline_timer (app, pipeline, block, due);

-- The custom events that set off those who wait; none where something else did.
alter table pipeline_timer add column causes blob;

-- The same of those to whom a push goes.
create table push_cause (
  app bigint not null,
  push blob not null,
  block bigint not null,
  causes blob not null,
  primary key (app, push, block)
);

-- The push of which the payload is, when it is the same: automated messages are sent over and over.
alter table push add column payload_of blob;
