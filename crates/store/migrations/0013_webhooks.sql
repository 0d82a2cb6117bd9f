-- Where the events of an app are forwarded to. A webhook is a follower of the log under the same id.
create table webhook (
  app bigint not null,
  id blob not null,
  created bigint not null,
  modified bigint not null,
  enabled bigint not null,
  -- Why the service itself disabled it.
  disabled_why text,
  -- Encrypted.
  config text not null,
  -- Raised by every change of what is configured, and by everything that moves its place in the log.
  changes bigint not null,
  version bigint not null,
  -- Everything up to this offset is delivered; what is delivered beyond it, and what failed, is in its progress.
  done bigint not null,
  progress blob not null,
  n_delivered bigint not null,
  n_failed bigint not null,
  n_dead bigint not null,
  last_delivered bigint,
  failing_since bigint,
  failure text,
  -- The number of its last attempt in the history.
  n_noted bigint not null,
  primary key (app, id)
);

-- The latest requests to a webhook.
create table webhook_attempt (
  app bigint not null,
  webhook blob not null,
  n bigint not null,
  at bigint not null,
  event blob not null,
  kind bigint not null,
  event_offset bigint not null,
  attempt bigint not null,
  millis bigint not null,
  status bigint,
  error text,
  primary key (app, webhook, n)
);

-- Events that a webhook did not take for too long.
create table webhook_dead_letter (
  app bigint not null,
  webhook blob not null,
  event_offset bigint not null,
  event blob not null,
  kind bigint not null,
  at bigint not null,
  attempts bigint not null,
  reason text not null,
  body blob not null,
  primary key (app, webhook, event_offset)
);
