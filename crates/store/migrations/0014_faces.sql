-- What channels looked like before they changed (kind 21), which earlier events go on showing. Found by
-- channel, and few among all other records.
create index log_faces on log (app, ordinal, position) where kind = 21;
