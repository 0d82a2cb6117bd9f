-- What audiences select by: terms, attributes, uploaded lists and places.

-- The numbers of terms. A term keeps its number for good; a deleted tag leaves its number to a name of the
-- group '@retired'.
create table term (
    app bigint not null,
    id bigint not null,
    grp text not null,
    tag text not null,
    primary key (app, id)
);
create unique index term_by_name on term (app, grp, tag);

-- The channels that hold a term which is not kept with the channels, such as a day of activity. In slices of half
-- a kilobyte at most, so that a device that is used rewrites little.
create table term_set (
    app bigint not null,
    term bigint not null,
    -- 4,096 consecutive ordinals, counted from 0.
    slice bigint not null,
    members blob not null,
    primary key (app, term, slice)
);

-- Tags that were created through the legacy tag endpoints. They exist even if no channel has them.
create table legacy_tag (
    app bigint not null,
    tag text not null,
    primary key (app, tag)
);

-- Attributes of channels and named users.
create table attribute (
    app bigint not null,
    -- 'channel' or 'named_user'.
    owner_kind text not null,
    -- The ordinal in ten digits, or the id of the user.
    owner text not null,
    name text not null,
    -- JSON. Null, as JSON, is an attribute that was removed: an older value that arrives later must not come
    -- back.
    value text not null,
    set_at bigint not null,
    primary key (app, owner_kind, owner, name)
);
-- A selector reads all values of a name, which may be as many as there are channels, from an index alone.
-- PostgreSQL takes at most 2.7 kB into a row of an index, so the few long values are left to their rows. A
-- short value, a name and an owner stay below that in any script.
create index attribute_short on attribute (app, name, owner_kind, owner, value) where length(value) <= 300;
create index attribute_long on attribute (app, name, owner_kind, owner) where length(value) > 300;

-- The rows of uploaded lists. Those of an upload have a generation to themselves, so that an upload that
-- fails changes nothing.
create table list_member (
    app bigint not null,
    list text not null,
    generation bigint not null,
    kind text not null,
    identifier text not null,
    primary key (app, list, generation, kind, identifier)
);

-- Where channels were last seen. Coordinates are not kept.
create table last_place (
    app bigint not null,
    ordinal bigint not null,
    seen bigint not null,
    -- The terms of the places, encoded as in `channel`.
    terms blob not null,
    primary key (app, ordinal)
);
-- For deleting those that have served their time, every hour.
create index last_place_by_seen on last_place (app, seen);

-- The channels that were in a place on a day, per block.
create table place_day (
    app bigint not null,
    place text not null,
    -- Days since 1970 in UTC.
    day bigint not null,
    block bigint not null,
    members blob not null,
    primary key (app, place, day, block)
);
-- For deleting those that have served their time, every hour.
create index place_day_by_day on place_day (app, day);
