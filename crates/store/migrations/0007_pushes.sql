-- Pushes, from acceptance to their results.

create table push (
    app bigint not null,
    id blob not null,
    -- Shared by the pushes of one request.
    operation blob not null,
    created bigint not null,
    -- After this time nothing is sent.
    expires bigint,
    push_type text not null,
    -- 'accepted', 'sending', 'done' or 'canceled'.
    state text not null,
    paused bigint not null,
    -- The log position at which it was accepted: its audience is resolved by an index that has read that far.
    accepted_at bigint not null,
    -- From when on its age counts: from its end, and before that from its acceptance. Later if something
    -- still needed it when it had reached its age.
    aging_since bigint not null,
    -- Whether the payload is deleted as soon as it is sent.
    redact bigint not null,
    -- Why it went to nobody, as a sentence.
    reason text,
    -- The push that holds the same payload for both: automated messages are sent over and over.
    payload_of blob,
    -- As submitted, as JSON. Null when it is redacted or held by another push.
    payload text,
    primary key (app, id)
);
-- Listings go from the newest to the oldest.
create index push_by_created on push (app, created, id);
create index push_by_age on push (app, aging_since, id);
-- A push is kept as long as another one needs its payload.
create index push_by_payload on push (app, payload_of) where payload_of is not null;
-- Pushes whose audience is still to be chosen. There are never many.
create index push_accepted on push (app, id) where state = 'accepted';

-- What sent a push, and to which part of its audience. A push without a row was sent through the API to all
-- of it.
create table push_origin (
    app bigint not null,
    push blob not null,
    -- 'schedule', 'experiment', 'pipeline' or 'template'.
    kind text not null,
    origin blob not null,
    -- Pushes of one origin with the same run share their audience among them.
    run text,
    -- JSON.
    part text not null,
    primary key (app, push)
);
create index push_origin_by_origin on push_origin (app, origin, push);
create index push_origin_by_run on push_origin (app, origin, run) where run is not null;

-- The recipients of a push that a pipeline sends, per block, until its audience is resolved.
create table push_audience (
    app bigint not null,
    push blob not null,
    block bigint not null,
    members blob not null,
    primary key (app, push, block)
);

-- The custom events that set off a push, by recipient, per block.
create table push_cause (
    app bigint not null,
    push blob not null,
    block bigint not null,
    causes blob not null,
    primary key (app, push, block)
);

-- The part of a push for one device type and block: its recipients, by what became of them. The sets are
-- disjoint.
create table push_block (
    app bigint not null,
    push blob not null,
    -- The device type.
    platform text not null,
    block bigint not null,
    -- Whether nothing is left to do.
    settled bigint not null,
    -- How often it was gone through and left something to try again.
    tries bigint not null,
    pending blob not null,
    delivered blob not null,
    gone blob not null,
    failed blob not null,
    primary key (app, push, platform, block)
);

-- The channels whose direct response to a push was counted, so that each counts once.
create table push_response (
    app bigint not null,
    push blob not null,
    ordinal bigint not null,
    primary key (app, push, ordinal)
);

-- How many recipients of a push there are per device type, and what became of them.
create table push_tally (
    app bigint not null,
    push blob not null,
    -- The device type.
    platform text not null,
    targeted bigint not null,
    delivered bigint not null,
    gone bigint not null,
    failed bigint not null,
    expired bigint not null,
    -- Of the last failure.
    reason text,
    primary key (app, push, platform)
);

-- The last requests that providers would have got from the sandbox.
create table sandbox (
    app bigint not null,
    position bigint not null,
    delivery blob not null,
    push blob not null,
    channel blob not null,
    device_type text not null,
    transport text not null,
    at bigint not null,
    -- JSON.
    request text not null,
    primary key (app, position)
);
