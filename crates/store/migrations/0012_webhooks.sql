-- Webhooks, to which the events of an app are forwarded. A webhook is a follower of the log under the same
-- id.

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
    -- Raised by every change of the configuration.
    changes bigint not null,
    -- Raised by every change of `done` and `held`: a run that began with an older version cannot save its
    -- progress.
    version bigint not null,
    -- Everything up to this event offset is delivered.
    done bigint not null,
    -- The events beyond it that are not delivered although later ones are; null if nothing beyond it was
    -- sent.
    held blob,
    -- Counts since it was made: events delivered, attempts that failed, events that became dead letters, and
    -- log records that were deleted before they could be sent.
    n_delivered bigint not null,
    n_failed bigint not null,
    n_given_up bigint not null,
    n_missed bigint not null,
    -- The number of dead letters now.
    n_dead bigint not null,
    last_delivered bigint,
    failing_since bigint,
    failure text,
    -- The number of the last entry of its history.
    n_noted bigint not null,
    primary key (app, id)
);

-- The latest requests to a webhook, and the gaps between them.
create table webhook_history (
    app bigint not null,
    webhook blob not null,
    n bigint not null,
    at bigint not null,
    -- Of the event, or after which the webhook went on behind a gap.
    event_offset bigint not null,
    -- From here to `error`: null for a gap.
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

-- Events that a webhook did not take for too long, until the operator decides about them.
create table webhook_dead_letter (
    app bigint not null,
    webhook blob not null,
    event_offset bigint not null,
    event blob not null,
    kind bigint not null,
    -- When it was given up.
    at bigint not null,
    attempts bigint not null,
    reason text not null,
    -- The event as it would have been sent.
    body blob not null,
    primary key (app, webhook, event_offset)
);
