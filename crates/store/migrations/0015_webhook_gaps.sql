-- What a webhook has not got is remembered instead of what it has got beyond the first event that it did not take: one event that is
-- refused then takes the same room however much is delivered after it. What was remembered in the old form is forgotten, so that a
-- webhook goes on after the offset up to which everything is delivered.
alter table webhook drop column progress;
alter table webhook add column held blob;

-- Events that were given up since the webhook was made, and log records that were deleted before they could be sent.
alter table webhook add column n_given_up bigint not null default 0;
alter table webhook add column n_missed bigint not null default 0;

-- The latest requests to a webhook, and the gaps between them.
create table webhook_history (
  app bigint not null,
  webhook blob not null,
  n bigint not null,
  at bigint not null,
  -- Of the event, or after which the webhook went on.
  event_offset bigint not null,
  -- These are null for a gap.
  event blob,
  kind bigint,
  attempt bigint,
  millis bigint,
  status bigint,
  error text,
  -- How many log records were deleted unsent; null for a request.
  missed bigint,
  primary key (app, webhook, n)
);

insert into webhook_history (app, webhook, n, at, event_offset, event, kind, attempt, millis, status, error)
select app, webhook, n, at, event_offset, event, kind, attempt, millis, status, error from webhook_attempt;

drop table webhook_attempt;
