-- Requests to export or erase a person, and what an export has found.

create table privacy_request (
    app bigint not null,
    id blob not null,
    -- 'export' or 'erase'.
    kind text not null,
    created bigint not null,
    -- Null as long as it is under way.
    ended bigint,
    -- Whom the caller named, as JSON. Null once the person is erased.
    subject text,
    -- The channels and identifiers of the person, as JSON. Null before they are looked up and once they are erased.
    person text,
    -- How far it has come, as JSON.
    progress text not null,
    -- What was found and done in each table, as JSON.
    receipt text not null,
    primary key (app, id)
);
create index privacy_request_by_end on privacy_request (app, ended) where ended is not null;

-- The lines of an export, in pieces.
create table privacy_result (
    app bigint not null,
    request blob not null,
    n bigint not null,
    body blob not null,
    primary key (app, request, n)
);

-- Raised whenever records of the log are changed because a person is erased: what is in memory of the log is read again.
alter table app_numbers add column log_rewrites bigint not null default 0;
