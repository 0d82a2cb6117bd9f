-- In whose inboxes a message is that few hold: a row each, so that everybody else's listing does not come across it. Those that many
-- hold are in message_holders.
create table inbox_message (
  app bigint not null,
  ordinal bigint not null,
  number bigint not null,
  primary key (app, ordinal, number)
);
-- Messages are forgotten as a whole.
create index inbox_message_by_number on inbox_message (app, number);
