-- Pipelines, which send to channels some time after something happened to them. The pipeline itself is a
-- document.

-- The channels that wait for a pipeline: those that are due at the same time together, per block. Each
-- pipeline and time has one job.
create table pipeline_timer (
    app bigint not null,
    pipeline blob not null,
    due bigint not null,
    block bigint not null,
    members blob not null,
    -- The custom events that set off the members; null where something else did.
    causes blob,
    primary key (app, pipeline, due, block)
);
-- A channel whose wait is canceled is looked for in its block.
create index pipeline_timer_by_block on pipeline_timer (app, pipeline, block, due);

-- In which spans of time channels wait, so that a canceled channel is looked for only there: the union of the
-- channels that are due in a span, or were when it was last written.
create table pipeline_span (
    app bigint not null,
    pipeline blob not null,
    block bigint not null,
    -- How long spans of this kind are, in milliseconds.
    width bigint not null,
    -- How many spans of this width come before it, from 1970 on.
    span bigint not null,
    -- Empty if the members are not known.
    members blob not null,
    primary key (app, pipeline, block, width, span)
);
-- Spans that are over are deleted in all blocks at once.
create index pipeline_span_by_time on pipeline_span (app, pipeline, width, span);

-- The channels that a pipeline has sent to, by slices of time, for pipelines with a limit of how often.
create table pipeline_sent (
    app bigint not null,
    -- All zeros for what all pipelines of the app have sent together.
    pipeline blob not null,
    -- -1 is all of time.
    slice bigint not null,
    -- 0 has the channels that got something in the slice, 1 those that got something twice, and so on.
    layer bigint not null,
    block bigint not null,
    members blob not null,
    primary key (app, pipeline, block, slice, layer)
);
-- Slices are deleted for all pipelines of an app at once.
create index pipeline_sent_by_slice on pipeline_sent (app, slice);
