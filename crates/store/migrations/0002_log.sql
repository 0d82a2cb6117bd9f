-- The log of each app: everything that happens to it, in one order. The audience index, webhooks, pipelines
-- and streams of events read it.

create table log (
    app bigint not null,
    position bigint not null,
    at bigint not null,
    -- The number of a `RecordKind`.
    kind bigint not null,
    -- The channel that the record is about; null for a record about none or many.
    ordinal bigint,
    body blob not null,
    primary key (app, position)
);
-- Deliveries (kind 2). A process that starts reads those of many hours, which are few among all other
-- records.
create index log_sends on log (app, position) where kind = 2;

-- A durable reader of the log and how far it has got. It has a job with the same id.
create table follower (
    app bigint not null,
    id blob not null,
    -- The offset of the last event that it is done with: a position in the log and an index within the
    -- record.
    position bigint not null,
    -- After a failure it is left alone until this time.
    retry_at bigint not null,
    primary key (app, id)
);
