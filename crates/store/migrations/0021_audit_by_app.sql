-- unused since 0.1.0.
-- That version has no audit log, and this one finds rows along the primary key, app by app. The index made every row of the audit
-- log, and so every push, dearer.
drop index audit_by_time;
