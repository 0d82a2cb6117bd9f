-- What became of every push for every channel that its audience had, as long as the push is kept.

create table push_outcome (
    app bigint not null,
    push blob not null,
    block bigint not null,
    -- The device type.
    platform text not null,
    -- The number of a `PushOutcome`.
    outcome bigint not null,
    -- A name of ours, or the words of a provider; empty where there is nothing to say.
    reason text not null,
    -- When the first of them had it; the others at most a minute later.
    since bigint not null,
    members blob not null,
    primary key (app, push, block, platform, outcome, reason, since)
);

-- The channels that opened the app soon after a push was delivered to them, without having tapped it.
create table push_influence (
    app bigint not null,
    push blob not null,
    ordinal bigint not null,
    primary key (app, push, ordinal)
);

-- Who responded to a push, once it is so old that responses count no more: the rows of push_response and
-- push_influence, as sets.
create table push_mark (
    app bigint not null,
    push blob not null,
    -- 'opened' or 'influenced'.
    kind text not null,
    block bigint not null,
    members blob not null,
    primary key (app, push, kind, block)
);

-- The log position that the audience index had reached when it chose the recipients.
alter table push add column resolved_at bigint;
-- When it did.
alter table push add column resolved bigint;
