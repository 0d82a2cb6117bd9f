-- The first schema. Columns are bigint, double precision, text and blob; unique indexes are named; times are milliseconds
-- since 1970. Whatever belongs to an app has its number as the first column of the key, so that the rows of one app lie
-- together; a table like that is also listed in `apps::OWNED_TABLES`, which is what deleting an app goes by.

-- Numbers that are given out once, for the whole installation.
create table serial (
    name text not null primary key,
    value bigint not null
);
insert into serial (name, value) values ('app', 0);

-- The row of an app is also where its own numbers are given out: log positions, ordinals, terms, sandbox positions.
create table app (
    id bigint not null primary key,
    key text not null,
    name text not null,
    mode text not null,
    created bigint not null,
    app_secret_hash blob not null,
    master_secret_hash blob not null,
    log_head bigint not null,
    next_ordinal bigint not null,
    next_term bigint not null,
    sandbox_head bigint not null
);
create unique index app_by_key on app (key);

create table log (
    app bigint not null,
    position bigint not null,
    at bigint not null,
    kind bigint not null,
    ordinal bigint,
    body blob not null,
    primary key (app, position)
);

create table term (
    app bigint not null,
    id bigint not null,
    grp text not null,
    tag text not null,
    primary key (app, id)
);
create unique index term_by_name on term (app, grp, tag);

create table channel (
    app bigint not null,
    ordinal bigint not null,
    id blob not null,
    device_type text not null,
    installed bigint not null,
    address text,
    language text,
    country text,
    named_user text,
    created bigint not null,
    last_registration bigint,
    terms blob not null,
    profile text not null,
    primary key (app, ordinal)
);
create unique index channel_by_id on channel (app, id);

create table channel_key (
    app bigint not null,
    kind text not null,
    value text not null,
    ordinal bigint not null,
    primary key (app, kind, value)
);
create index channel_key_by_ordinal on channel_key (app, ordinal);

create table push (
    app bigint not null,
    id blob not null,
    operation blob not null,
    created bigint not null,
    expires bigint,
    push_type text not null,
    state text not null,
    accepted_at bigint not null,
    redact bigint not null,
    payload text,
    primary key (app, id)
);

create table push_tally (
    app bigint not null,
    push blob not null,
    platform text not null,
    targeted bigint not null,
    delivered bigint not null,
    gone bigint not null,
    failed bigint not null,
    expired bigint not null,
    reason text,
    primary key (app, push, platform)
);

create table push_block (
    app bigint not null,
    push blob not null,
    platform text not null,
    block bigint not null,
    settled bigint not null,
    tries bigint not null,
    pending blob not null,
    delivered blob not null,
    gone blob not null,
    failed blob not null,
    primary key (app, push, platform, block)
);

create table job (
    app bigint not null,
    id blob not null,
    kind text not null,
    -- Jobs of one app and lane share a limit of how many run at once.
    lane text not null,
    due bigint not null,
    leased bigint not null,
    attempt bigint not null,
    payload blob not null,
    primary key (app, id)
);
-- The order in which jobs of all apps are claimed.
create index job_by_due on job (due, app, id);

create table counter (
    app bigint not null,
    metric text not null,
    hour bigint not null,
    platform text not null,
    n bigint not null,
    primary key (app, metric, hour, platform)
);

create table document (
    app bigint not null,
    kind text not null,
    id text not null,
    created bigint not null,
    modified bigint not null,
    body text not null,
    primary key (app, kind, id)
);

create table idempotency (
    app bigint not null,
    key text not null,
    request blob not null,
    answer text not null,
    created bigint not null,
    primary key (app, key)
);
create index idempotency_by_created on idempotency (created);

create table sandbox (
    app bigint not null,
    position bigint not null,
    delivery blob not null,
    push blob not null,
    channel blob not null,
    device_type text not null,
    transport text not null,
    at bigint not null,
    request text not null,
    primary key (app, position)
);
