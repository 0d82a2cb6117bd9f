-- The index by which the holders of a message are found has them in it: SQLite would otherwise rather go through the keys of all
-- messages in all inboxes of the app, which have everything in them as well.
drop index inbox_message_by_number;
create index inbox_message_by_number on inbox_message (app, number, ordinal);
