-- Channels, the installations of an app, and what devices prove and report.

create table channel (
    app bigint not null,
    -- Dense numbers in the order of registration. Sets of channels are bitmaps of ordinals.
    ordinal bigint not null,
    -- The public id.
    id blob not null,
    device_type text not null,
    -- 0 after an uninstallation: the row stays, without address and terms.
    installed bigint not null,
    -- Where its provider reaches it; null when it cannot be reached.
    address text,
    language text,
    country text,
    named_user text,
    created bigint not null,
    last_registration bigint,
    -- The numbers of its own terms, sorted, as differences of seven bits a byte. Those of its user are not
    -- among them.
    terms blob not null,
    -- What the device reported about itself, as JSON.
    profile text not null,
    primary key (app, ordinal)
);
create unique index channel_by_id on channel (app, id);
create index channel_by_named_user on channel (app, named_user) where named_user is not null;

-- What else identifies a channel: addresses and other ids of its device. A key belongs to one channel.
create table channel_key (
    app bigint not null,
    kind text not null,
    value text not null,
    ordinal bigint not null,
    primary key (app, kind, value)
);
create index channel_key_by_ordinal on channel_key (app, ordinal);

-- The session that a channel has begun and not ended yet.
create table session (
    app bigint not null,
    ordinal bigint not null,
    id blob not null,
    -- When it began.
    opened bigint not null,
    primary key (app, ordinal)
);

-- Events that devices uploaded, by the hour they happened in, so that a repeated upload is recognized.
create table seen_event (
    app bigint not null,
    hour bigint not null,
    id blob not null,
    primary key (app, hour, id)
);

-- Requests that devices have signed, for as long as their signatures are good, so that none can be sent
-- again.
create table signed_request (
    app bigint not null,
    -- The minute since 1970.
    slot bigint not null,
    -- Identifies the request.
    mark blob not null,
    primary key (app, slot, mark)
);

-- The channels whose present address has taken a message, in slices of 4,096 ordinals. Only these can show
-- that a provider has begun to refuse us: an address that never worked may be made up.
create table served_address (
    app bigint not null,
    slice bigint not null,
    members blob not null,
    primary key (app, slice)
);

-- Addresses that their provider refuses, until they take a message, change, or are given up.
create table refused_address (
    app bigint not null,
    ordinal bigint not null,
    -- How often in a row.
    n bigint not null,
    -- When it was refused first.
    since bigint not null,
    primary key (app, ordinal)
);
