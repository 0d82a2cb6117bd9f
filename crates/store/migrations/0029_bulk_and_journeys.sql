-- The recipients in files that were uploaded for bulk sending. The file itself is a document, after which its rows are named.
create table bulk_row (
    app bigint not null,
    upload blob not null,
    ordinal bigint not null,
    -- Values for the texts of a push, as a JSON object of texts.
    merge_values text not null,
    primary key (app, upload, ordinal)
);
-- For erasing a person.
create index bulk_row_by_ordinal on bulk_row (app, ordinal);

-- The channels that have entered a journey and not left it.
create table journey_entrance (
    app bigint not null,
    -- Follows from the names of the journey and of the entrance.
    journey blob not null,
    ordinal bigint not null,
    entered bigint not null,
    primary key (app, journey, ordinal)
);
-- For erasing a person.
create index journey_entrance_by_ordinal on journey_entrance (app, ordinal);
-- For forgetting old ones.
create index journey_entrance_by_time on journey_entrance (app, entered);
