-- Aerogram 0.1.0: its tables, with rows in all of them. Written by a test.
CREATE TABLE schema_version (
    version bigint not null primary key,
    name text not null,
    checksum text not null
);
CREATE TABLE serial (
    name text not null primary key,
    value bigint not null
);
CREATE TABLE app (
    id bigint not null primary key,
    key text not null,
    name text not null,
    mode text not null,
    created bigint not null,
    app_secret_hash blob not null,
    master_secret_hash blob not null,
    users_associate text,
    users_tags text,
    users_attributes text,
    users_subscriptions text
);
CREATE UNIQUE INDEX app_by_key on app (key);
CREATE TABLE app_numbers (
    app bigint not null primary key,
    next_ordinal bigint not null,
    next_term bigint not null,
    terms_retired bigint not null,
    log_head bigint not null,
    log_start bigint not null,
    log_lost bigint not null,
    log_bytes bigint not null,
    next_message bigint not null,
    messages_forgotten bigint not null,
    sandbox_head bigint not null,
    device_channels bigint not null default 0,
    device_tags bigint not null default 0,
    device_tag_groups bigint not null default 0,
    device_properties bigint not null default 0,
    device_named_users bigint not null default 0
);
CREATE TABLE document (
    app bigint not null,
    kind text not null,
    id text not null,
    created bigint not null,
    modified bigint not null,
    body text not null,
    primary key (app, kind, id)
);
CREATE TABLE idempotency (
    app bigint not null,
    key text not null,
    request blob not null,
    answer text not null,
    created bigint not null,
    primary key (app, key)
);
CREATE INDEX idempotency_by_created on idempotency (created);
CREATE TABLE log (
    app bigint not null,
    position bigint not null,
    at bigint not null,
    kind bigint not null,
    ordinal bigint,
    body blob not null,
    primary key (app, position)
);
CREATE INDEX log_sends on log (app, position) where kind = 2;
CREATE TABLE follower (
    app bigint not null,
    id blob not null,
    position bigint not null,
    retry_at bigint not null,
    primary key (app, id)
);
CREATE TABLE channel (
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
CREATE UNIQUE INDEX channel_by_id on channel (app, id);
CREATE INDEX channel_by_named_user on channel (app, named_user) where named_user is not null;
CREATE TABLE channel_key (
    app bigint not null,
    kind text not null,
    value text not null,
    ordinal bigint not null,
    primary key (app, kind, value)
);
CREATE INDEX channel_key_by_ordinal on channel_key (app, ordinal);
CREATE TABLE session (
    app bigint not null,
    ordinal bigint not null,
    id blob not null,
    opened bigint not null,
    primary key (app, ordinal)
);
CREATE TABLE seen_event (
    app bigint not null,
    hour bigint not null,
    id blob not null,
    primary key (app, hour, id)
);
CREATE TABLE signed_request (
    app bigint not null,
    slot bigint not null,
    mark blob not null,
    primary key (app, slot, mark)
);
CREATE TABLE served_address (
    app bigint not null,
    slice bigint not null,
    members blob not null,
    primary key (app, slice)
);
CREATE TABLE refused_address (
    app bigint not null,
    ordinal bigint not null,
    n bigint not null,
    since bigint not null,
    primary key (app, ordinal)
);
CREATE TABLE named_user (
    app bigint not null,
    id text not null,
    created bigint not null,
    modified bigint not null,
    terms blob not null,
    primary key (app, id)
);
CREATE TABLE pending_association (
    app bigint not null,
    channel blob not null,
    named_user text not null,
    created bigint not null,
    device_type text,
    primary key (app, channel)
);
CREATE INDEX pending_association_by_created on pending_association (app, created);
CREATE INDEX pending_association_by_named_user on pending_association (app, named_user);
CREATE TABLE contact (
    app bigint not null,
    id blob not null,
    named_user text not null,
    primary key (app, id)
);
CREATE TABLE unknown_user (
    app bigint not null,
    ordinal bigint not null,
    terms blob not null,
    attributes text not null,
    primary key (app, ordinal)
);
CREATE TABLE term (
    app bigint not null,
    id bigint not null,
    grp text not null,
    tag text not null,
    primary key (app, id)
);
CREATE UNIQUE INDEX term_by_name on term (app, grp, tag);
CREATE TABLE term_set (
    app bigint not null,
    term bigint not null,
    slice bigint not null,
    members blob not null,
    primary key (app, term, slice)
);
CREATE TABLE legacy_tag (
    app bigint not null,
    tag text not null,
    primary key (app, tag)
);
CREATE TABLE attribute (
    app bigint not null,
    owner_kind text not null,
    owner text not null,
    name text not null,
    value text not null,
    set_at bigint not null,
    primary key (app, owner_kind, owner, name)
);
CREATE INDEX attribute_short on attribute (app, name, owner_kind, owner, value) where length(value) <= 300;
CREATE INDEX attribute_long on attribute (app, name, owner_kind, owner) where length(value) > 300;
CREATE TABLE list_member (
    app bigint not null,
    list text not null,
    generation bigint not null,
    kind text not null,
    identifier text not null,
    primary key (app, list, generation, kind, identifier)
);
CREATE TABLE last_place (
    app bigint not null,
    ordinal bigint not null,
    seen bigint not null,
    terms blob not null,
    primary key (app, ordinal)
);
CREATE INDEX last_place_by_seen on last_place (app, seen);
CREATE TABLE place_day (
    app bigint not null,
    place text not null,
    day bigint not null,
    block bigint not null,
    members blob not null,
    primary key (app, place, day, block)
);
CREATE INDEX place_day_by_day on place_day (app, day);
CREATE TABLE job (
    app bigint not null,
    id blob not null,
    kind text not null,
    lane text not null,
    due bigint not null,
    turn bigint not null,
    leased bigint not null,
    attempt bigint not null,
    failures bigint not null,
    push blob,
    payload blob not null,
    primary key (app, id)
);
CREATE INDEX job_waiting on job (due, app, id, lane, kind, turn);
CREATE INDEX job_by_lane on job (app, lane, turn, due, id);
CREATE INDEX job_by_push on job (app, push) where push is not null;
CREATE INDEX job_by_node on job (leased) where leased > 0;
CREATE TABLE push (
    app bigint not null,
    id blob not null,
    operation blob not null,
    created bigint not null,
    expires bigint,
    push_type text not null,
    state text not null,
    paused bigint not null,
    accepted_at bigint not null,
    aging_since bigint not null,
    redact bigint not null,
    reason text,
    payload_of blob,
    payload text,
    primary key (app, id)
);
CREATE INDEX push_by_created on push (app, created, id);
CREATE INDEX push_by_age on push (app, aging_since, id);
CREATE INDEX push_by_payload on push (app, payload_of) where payload_of is not null;
CREATE INDEX push_accepted on push (app, id) where state = 'accepted';
CREATE TABLE push_origin (
    app bigint not null,
    push blob not null,
    kind text not null,
    origin blob not null,
    run text,
    part text not null,
    primary key (app, push)
);
CREATE INDEX push_origin_by_origin on push_origin (app, origin, push);
CREATE INDEX push_origin_by_run on push_origin (app, origin, run) where run is not null;
CREATE TABLE push_audience (
    app bigint not null,
    push blob not null,
    block bigint not null,
    members blob not null,
    primary key (app, push, block)
);
CREATE TABLE push_cause (
    app bigint not null,
    push blob not null,
    block bigint not null,
    causes blob not null,
    primary key (app, push, block)
);
CREATE TABLE push_block (
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
CREATE TABLE push_response (
    app bigint not null,
    push blob not null,
    ordinal bigint not null,
    primary key (app, push, ordinal)
);
CREATE TABLE push_tally (
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
CREATE TABLE sandbox (
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
CREATE TABLE experiment_group (
    app bigint not null,
    experiment blob not null,
    push blob not null,
    block bigint not null,
    variant bigint,
    since bigint not null,
    n_members bigint not null,
    n_opened bigint not null,
    members blob not null,
    opened blob not null,
    primary key (app, experiment, push, block)
);
CREATE INDEX experiment_group_since on experiment_group (app, since);
CREATE TABLE pipeline_timer (
    app bigint not null,
    pipeline blob not null,
    due bigint not null,
    block bigint not null,
    members blob not null,
    causes blob,
    primary key (app, pipeline, due, block)
);
CREATE INDEX pipeline_timer_by_block on pipeline_timer (app, pipeline, block, due);
CREATE TABLE pipeline_span (
    app bigint not null,
    pipeline blob not null,
    block bigint not null,
    width bigint not null,
    span bigint not null,
    members blob not null,
    primary key (app, pipeline, block, width, span)
);
CREATE INDEX pipeline_span_by_time on pipeline_span (app, pipeline, width, span);
CREATE TABLE pipeline_sent (
    app bigint not null,
    pipeline blob not null,
    slice bigint not null,
    layer bigint not null,
    block bigint not null,
    members blob not null,
    primary key (app, pipeline, block, slice, layer)
);
CREATE INDEX pipeline_sent_by_slice on pipeline_sent (app, slice);
CREATE TABLE message (
    app bigint not null,
    number bigint not null,
    push blob not null,
    grp blob,
    sent bigint not null,
    expires bigint,
    ends bigint not null,
    told text not null,
    texts text not null,
    slices blob not null,
    primary key (app, number)
);
CREATE UNIQUE INDEX message_by_push on message (app, push);
CREATE INDEX message_by_end on message (app, ends);
CREATE INDEX message_by_group on message (app, grp, number) where grp is not null;
CREATE TABLE message_text (
    app bigint not null,
    number bigint not null,
    text bigint not null,
    title text not null,
    content_type text not null,
    details text not null,
    size bigint not null,
    body blob not null,
    primary key (app, number, text)
);
CREATE TABLE message_holders (
    app bigint not null,
    slice bigint not null,
    number bigint not null,
    holders blob not null,
    primary key (app, slice, number)
);
CREATE TABLE inbox_message (
    app bigint not null,
    ordinal bigint not null,
    number bigint not null,
    primary key (app, ordinal, number)
);
CREATE INDEX inbox_message_by_number on inbox_message (app, number, ordinal);
CREATE TABLE inbox_user (
    app bigint not null,
    id text not null,
    created bigint not null,
    changed bigint not null,
    read_messages blob not null,
    deleted_messages blob not null,
    primary key (app, id)
);
CREATE TABLE inbox_login (
    id text not null primary key,
    owner bigint not null,
    password_hash blob not null
);
CREATE TABLE inbox_channel (
    app bigint not null,
    ordinal bigint not null,
    user_id text not null,
    primary key (app, ordinal)
);
CREATE INDEX inbox_channel_by_user on inbox_channel (app, user_id);
CREATE TABLE counter (
    app bigint not null,
    metric text not null,
    hour bigint not null,
    platform text not null,
    n bigint not null,
    primary key (app, metric, hour, platform)
);
CREATE TABLE counter_day (
    app bigint not null,
    metric text not null,
    day bigint not null,
    platform text not null,
    n bigint not null,
    primary key (app, metric, day, platform)
);
CREATE TABLE push_counter (
    app bigint not null,
    push blob not null,
    metric text not null,
    hour bigint not null,
    platform text not null,
    n bigint not null,
    primary key (app, push, metric, hour, platform)
);
CREATE TABLE group_counter (
    app bigint not null,
    grp blob not null,
    metric text not null,
    hour bigint not null,
    platform text not null,
    n bigint not null,
    primary key (app, grp, metric, hour, platform)
);
CREATE TABLE group_counter_day (
    app bigint not null,
    grp blob not null,
    metric text not null,
    day bigint not null,
    platform text not null,
    n bigint not null,
    primary key (app, grp, metric, day, platform)
);
CREATE TABLE event_counter (
    app bigint not null,
    hour bigint not null,
    name text not null,
    conversion text not null,
    push blob not null,
    n bigint not null,
    value double precision not null,
    primary key (app, hour, name, conversion, push)
);
CREATE INDEX event_counter_by_push on event_counter (app, push);
CREATE TABLE event_counter_day (
    app bigint not null,
    day bigint not null,
    name text not null,
    conversion text not null,
    n bigint not null,
    value double precision not null,
    primary key (app, day, name, conversion)
);
CREATE TABLE group_event (
    app bigint not null,
    grp blob not null,
    name text not null,
    conversion text not null,
    n bigint not null,
    value double precision not null,
    primary key (app, grp, name, conversion)
);
CREATE TABLE webhook (
    app bigint not null,
    id blob not null,
    created bigint not null,
    modified bigint not null,
    enabled bigint not null,
    disabled_why text,
    config text not null,
    changes bigint not null,
    version bigint not null,
    done bigint not null,
    held blob,
    n_delivered bigint not null,
    n_failed bigint not null,
    n_given_up bigint not null,
    n_missed bigint not null,
    n_dead bigint not null,
    last_delivered bigint,
    failing_since bigint,
    failure text,
    n_noted bigint not null,
    primary key (app, id)
);
CREATE TABLE webhook_history (
    app bigint not null,
    webhook blob not null,
    n bigint not null,
    at bigint not null,
    event_offset bigint not null,
    event blob,
    kind bigint,
    attempt bigint,
    millis bigint,
    status bigint,
    error text,
    missed bigint,
    primary key (app, webhook, n)
);
CREATE TABLE webhook_dead_letter (
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
insert into app (id, key, name, mode, created, app_secret_hash, master_secret_hash, users_associate, users_tags, users_attributes, users_subscriptions) values (1, 'app-000000000000000001', 'App 1', 'development', 1700000000000, unhex('0101010101010101010101010101010101010101010101010101010101010101'), unhex('fefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefe'), null, null, null, null);
insert into app_numbers (app, next_ordinal, next_term, terms_retired, log_head, log_start, log_lost, log_bytes, next_message, messages_forgotten, sandbox_head, device_channels, device_tags, device_tag_groups, device_properties, device_named_users) values (1, 1, 1, 0, 2, 1, 0, 11, 1, 0, 1, 0, 0, 0, 0, 0);
insert into attribute (app, owner_kind, owner, name, value, set_at) values (1, 'channel', '0000000000', 'city', '"Graz"', 1700000000000);
insert into channel (app, ordinal, id, device_type, installed, address, language, country, named_user, created, last_registration, terms, profile) values (1, 0, unhex('01900000000070008000000000000000'), 'android', 1, 'address 0', 'de', 'at', 'jo', 1700000000000, 1700000000000, unhex('00'), '{"n":0}');
insert into channel_key (app, kind, value, ordinal) values (1, 'fcm', 'it''s an address', 0);
insert into contact (app, id, named_user) values (1, unhex('03030303030353038303030303030303'), 'jo');
insert into counter (app, metric, hour, platform, n) values (1, 'sends', 472222, 'android', 7);
insert into counter_day (app, metric, day, platform, n) values (1, 'sends', 19675, 'android', 7);
insert into document (app, kind, id, created, modified, body) values (1, 'schedule', 's1', 1700000000000, 1700000000000, '{"name":"Grüße"}');
insert into event_counter (app, hour, name, conversion, push, n, value) values (1, 472222, 'buy', 'direct', unhex('01900000000070008000000000000001'), 2, 3500000.0);
insert into event_counter_day (app, day, name, conversion, n, value) values (1, 19675, 'buy', 'direct', 2, 3500000.0);
insert into experiment_group (app, experiment, push, block, variant, since, n_members, n_opened, members, opened) values (1, unhex('0190000000007000800000000000001e'), unhex('0190000000007000800000000000001f'), 2, 1, 1700000000000, 9, 4, unhex('0102'), unhex('02'));
insert into follower (app, id, position, retry_at) values (1, unhex('01900000000070008000000000000001'), 131072, 0);
insert into group_counter (app, grp, metric, hour, platform, n) values (1, unhex('01900000000070008000000000000028'), 'sends', 472222, 'android', 7);
insert into group_counter_day (app, grp, metric, day, platform, n) values (1, unhex('01900000000070008000000000000028'), 'sends', 19675, 'android', 7);
insert into group_event (app, grp, name, conversion, n, value) values (1, unhex('01900000000070008000000000000028'), 'buy', 'direct', 2, 3500000.0);
insert into idempotency (app, key, request, answer, created) values (1, 'key', unhex('00ff'), '{"ok":true}', 1700000000000);
insert into inbox_channel (app, ordinal, user_id) values (1, 0, 'user-00000000000000001');
insert into inbox_login (id, owner, password_hash) values ('user-00000000000000001', 1, unhex('0505050505050505050505050505050505050505050505050505050505050505'));
insert into inbox_message (app, ordinal, number) values (1, 0, 0);
insert into inbox_user (app, id, created, changed, read_messages, deleted_messages) values (1, 'user-00000000000000001', 1700000000000, 1700000000000, unhex('00'), unhex('00'));
insert into job (app, id, kind, lane, due, turn, leased, attempt, failures, push, payload) values (1, unhex('01900000000070008000000000000001'), 'sample', 'sample', 5, 0, 0, 0, 0, unhex('01900000000070008000000000000001'), unhex('00000001'));
insert into last_place (app, ordinal, seen, terms) values (1, 0, 1700000000000, unhex('00'));
insert into legacy_tag (app, tag) values (1, 'old');
insert into list_member (app, list, generation, kind, identifier) values (1, 'vip', 3, 'named_user', 'jo');
insert into log (app, position, at, kind, ordinal, body) values (1, 1, 1700000000000, 2, null, unhex('6669727374'));
insert into log (app, position, at, kind, ordinal, body) values (1, 2, 1700000000000, 2, null, unhex('7365636f6e64'));
insert into message (app, number, push, grp, sent, expires, ends, told, texts, slices) values (1, 0, unhex('01900000000070008000000000000001'), unhex('01900000000070008000000000000028'), 1700000000000, 1700000000005, 1700000000005, '{"push_id":"01900000-0000-7000-8000-000000000001","group_id":"01900000-0000-7000-8000-000000000028","variant_id":null,"experiment_id":null,"categories":[]}', '{"top":0}', unhex('01'));
insert into message_holders (app, slice, number, holders) values (1, 3, 0, unhex('0809'));
insert into message_text (app, number, text, title, content_type, details, size, body) values (1, 0, 0, 'Order', 'text/html', '{"extra":{}}', 4, unhex('626f6479'));
insert into named_user (app, id, created, modified, terms) values (1, 'jo', 1700000000000, 1700000000000, unhex(''));
insert into pending_association (app, channel, named_user, created, device_type) values (1, unhex('01900000000070008000000000000005'), 'jo', 1700000000000, 'ios');
insert into pipeline_sent (app, pipeline, slice, layer, block, members) values (1, unhex('01900000000070008000000000000028'), -1, 1, 2, unhex('09'));
insert into pipeline_span (app, pipeline, block, width, span, members) values (1, unhex('01900000000070008000000000000028'), 1, 256000, 6640625, unhex('08'));
insert into pipeline_timer (app, pipeline, due, block, members, causes) values (1, unhex('01900000000070008000000000000028'), 1700000000000, 1, unhex('06'), unhex('07'));
insert into place_day (app, place, day, block, members) values (1, '0000000000000000000007', 19675, 0, unhex('03'));
insert into push (app, id, operation, created, expires, push_type, state, paused, accepted_at, aging_since, redact, reason, payload_of, payload) values (1, unhex('01900000000070008000000000000001'), unhex('019000000000700080000000000003e9'), 1700000000000, null, 'UNICAST_PUSH', 'accepted', 0, 1, 1700000000000, 0, null, null, '{"n":1}');
insert into push (app, id, operation, created, expires, push_type, state, paused, accepted_at, aging_since, redact, reason, payload_of, payload) values (1, unhex('01900000000070008000000000000002'), unhex('019000000000700080000000000003ea'), 1700000000000, null, 'UNICAST_PUSH', 'done', 0, 2, 1700000000000, 0, 'Nobody is in the audience.', unhex('01900000000070008000000000000001'), null);
insert into push_audience (app, push, block, members) values (1, unhex('01900000000070008000000000000001'), 0, unhex('04'));
insert into push_block (app, push, platform, block, settled, tries, pending, delivered, gone, failed) values (1, unhex('01900000000070008000000000000001'), 'android', 0, 0, 0, unhex('010203'), unhex(''), unhex(''), unhex(''));
insert into push_cause (app, push, block, causes) values (1, unhex('01900000000070008000000000000001'), 0, unhex('05'));
insert into push_counter (app, push, metric, hour, platform, n) values (1, unhex('01900000000070008000000000000001'), 'sends', 472222, 'android', 7);
insert into push_origin (app, push, kind, origin, run, part) values (1, unhex('01900000000070008000000000000001'), 'pipeline', unhex('01900000000070008000000000000028'), '2024-05-01', '"triggered"');
insert into push_response (app, push, ordinal) values (1, unhex('01900000000070008000000000000001'), 0);
insert into push_tally (app, push, platform, targeted, delivered, gone, failed, expired, reason) values (1, unhex('01900000000070008000000000000001'), 'android', 5, 2, 1, 1, 1, 'TooManyRequests');
insert into refused_address (app, ordinal, n, since) values (1, 0, 2, 1700000000000);
insert into sandbox (app, position, delivery, push, channel, device_type, transport, at, request) values (1, 1, unhex('019000000000700080000000000f4240'), unhex('01900000000070008000000000000001'), unhex('01900000000070008000000000000000'), 'android', 'fcm', 1700000000000, '{"push":1,"channel":0}');
insert into schema_version (version, name, checksum) values (1, '0001_apps', 'e2a4ff9330fc9f7a9b66c1cf589aa181252c66e0ddd5be9578865c298fb3cfb5');
insert into schema_version (version, name, checksum) values (2, '0002_log', '06252cf74cc888f080e121d1e75057a257ab497347993fb7bdf4199dde8d4d4c');
insert into schema_version (version, name, checksum) values (3, '0003_channels', '11aa372efcdd180c779c36f3d70b0bfc4b9e73b24f1fbe0e813a14b3e26864ff');
insert into schema_version (version, name, checksum) values (4, '0004_users', 'df9603288f01a148fa3b2e099541168fb288d4d2f2856fa6b096a64e9bbecaa2');
insert into schema_version (version, name, checksum) values (5, '0005_audience', 'a407cf6f4d844a1c57543cf102720c725b93ebe1b533a85ec56af3fda5402af4');
insert into schema_version (version, name, checksum) values (6, '0006_jobs', 'e487f54be5d834412ea85c3a816557055946d072a852491484730246c09d8771');
insert into schema_version (version, name, checksum) values (7, '0007_pushes', '18cd81f40c557f017def87b2b5b7d7552638f6433d7aabe42617dd66282a3af6');
insert into schema_version (version, name, checksum) values (8, '0008_experiments', '9fec3f012b9d5f64859fbe4a576c00151b1f122d6c6b1c067ab6ed45a52dbd8b');
insert into schema_version (version, name, checksum) values (9, '0009_pipelines', '88d3fd33b781b37466603d27900f1fc1fd78cfc42585c8cb95f2443e6300c2ec');
insert into schema_version (version, name, checksum) values (10, '0010_inboxes', 'f784916bc482612b14a62fe96a64d6064d95cc2da8b72e6f6f13b98e4e179b71');
insert into schema_version (version, name, checksum) values (11, '0011_reports', '3d3faf470bc87bf418157c247f51edeee16e20602e2e773a552ef6b697dd1e1f');
insert into schema_version (version, name, checksum) values (12, '0012_webhooks', 'bb6dd07ae7238429a542231e2a6d4155b3826d3f90ffe921b0d62349c807e1cd');
insert into seen_event (app, hour, id) values (1, 472222, unhex('01900000000070008000000000000015'));
insert into serial (name, value) values ('app', 1);
insert into served_address (app, slice, members) values (1, 1, unhex('0405'));
insert into session (app, ordinal, id, opened) values (1, 0, unhex('01900000000070008000000000000014'), 1700000000000);
insert into signed_request (app, slot, mark) values (1, 28333333, unhex('09090909090909090909090909090909'));
insert into term (app, id, grp, tag) values (1, 0, 'crew', 'news');
insert into term_set (app, term, slice, members) values (1, 0, 1, unhex('0102'));
insert into unknown_user (app, ordinal, terms, attributes) values (1, 0, unhex('00'), '["city"]');
insert into webhook (app, id, created, modified, enabled, disabled_why, config, changes, version, done, held, n_delivered, n_failed, n_given_up, n_missed, n_dead, last_delivered, failing_since, failure, n_noted) values (1, unhex('01900000000070008000000000000032'), 1700000000000, 1700000000000, 1, null, 'sealed', 0, 0, 131072, null, 0, 0, 0, 0, 1, null, null, null, 2);
insert into webhook_dead_letter (app, webhook, event_offset, event, kind, at, attempts, reason, body) values (1, unhex('01900000000070008000000000000032'), 131072, unhex('01900000000070008000000000000033'), 7, 1700000000000, 9, 'It answers 503.', unhex('7b7d'));
insert into webhook_history (app, webhook, n, at, event_offset, event, kind, attempt, millis, status, error, missed) values (1, unhex('01900000000070008000000000000032'), 1, 1700000000000, 131072, null, null, null, null, null, null, 3);
insert into webhook_history (app, webhook, n, at, event_offset, event, kind, attempt, millis, status, error, missed) values (1, unhex('01900000000070008000000000000032'), 2, 1700000000000, 131072, unhex('01900000000070008000000000000033'), 7, 1, 20, 503, 'busy', null);
