//! The doctor's checks of a PostgreSQL server: whether it keeps what it has confirmed, and has room for a node.

use std::time::Duration;

use store::PostgresSettings;
use store::examine::{ServerFacts, Standby, TableRows};

use super::Finding;

/// An answer from another room. A transaction has several of them, so that longer ones are felt in every request.
const LONG_ROUND_TRIP: Duration = Duration::from_millis(5);
/// A table with fewer dead rows is cleaned up in a moment.
const FEW_ROWS: i64 = 100_000;
/// A standby that is so far behind would lose that much if it took over.
const LONG_LAG_MILLIS: i64 = 10_000;

/// A line for everything that is not as it should be; nothing if all is well.
pub(super) fn findings(facts: &ServerFacts, node: PostgresSettings) -> Vec<Finding> {
    let mut found = durability(facts);
    found.extend(timeouts(facts));
    found.extend(room(facts, node));
    found.extend(privileges(facts));
    if facts.round_trip > LONG_ROUND_TRIP {
        let millis = facts.round_trip.as_millis();
        found.push(Finding::Soon(format!(
            "An answer of PostgreSQL takes {millis} ms from here; nodes want a server in the same place."
        )));
    }
    found.extend(facts.biggest_tables.iter().filter_map(dead_rows));
    found.extend(facts.standbys.iter().filter_map(lag));
    found
}

/// What is known of the server when all is well.
pub(super) fn summary(facts: &ServerFacts) -> String {
    let ServerFacts { version, n_connections, most_connections, round_trip, standbys, .. } = facts;
    let standbys = match standbys.len() {
        0 => String::new(),
        1 => ", and has a standby".to_owned(),
        n => format!(", and has {n} standbys"),
    };
    format!(
        " PostgreSQL {version} has {n_connections} of {most_connections} connections in use, answers in {:.1} ms{standbys}.",
        round_trip.as_secs_f64() * 1000.0
    )
}

fn durability(facts: &ServerFacts) -> Vec<Finding> {
    let is = |name: &str, value: &str| facts.settings.get(name).is_some_and(|set| set == value);
    let mut found = Vec::new();
    for name in ["fsync", "full_page_writes"] {
        if is(name, "off") {
            let text =
                format!("PostgreSQL has {name} = off: a crash of its machine can destroy the database; set it to on.");
            found.push(Finding::Wrong(text));
        }
    }
    if is("synchronous_commit", "off") {
        let text = "PostgreSQL has synchronous_commit = off: changes that were confirmed can be lost in a crash; set it to on.";
        found.push(Finding::Soon(text.to_owned()));
    }
    found
}

/// Limits that would end what a node keeps open on purpose. That of statements is set by the nodes themselves.
fn timeouts(facts: &ServerFacts) -> Vec<Finding> {
    let ends = [
        ("idle_session_timeout", "connections that wait for work"),
        ("idle_in_transaction_session_timeout", "transactions that wait for a node"),
        ("transaction_timeout", "transactions, also those of long copies"),
    ];
    let set = ends.iter().filter_map(|(name, what)| {
        let millis: u64 = facts.settings.get(*name)?.parse().ok().filter(|millis| (1..60_000).contains(millis))?;
        Some(Finding::Soon(format!(
            "PostgreSQL has {name} = {millis} ms and ends {what}; set it to 0 or to more than a minute for our role."
        )))
    });
    set.collect()
}

fn room(facts: &ServerFacts, node: PostgresSettings) -> Option<Finding> {
    let n_free = facts.most_connections - facts.n_connections;
    let n_wanted = i64::try_from(node.n_connections).unwrap_or(i64::MAX);
    (n_free < n_wanted).then(|| {
        Finding::Soon(format!(
            "PostgreSQL has {n_free} free connections and a node that starts wants {n_wanted}; raise max_connections or lower \
             AEROGRAM_DATABASE_CONNECTIONS."
        ))
    })
}

fn privileges(facts: &ServerFacts) -> Vec<Finding> {
    let mut found = Vec::new();
    if facts.n_forbidden_tables > 0 {
        let text = "Our role cannot read and change";
        let n = facts.n_forbidden_tables;
        found.push(Finding::Wrong(format!("{text} {n} tables of the schema aerogram; make it their owner.")));
    }
    if !facts.may_make_tables {
        let text = "Our role cannot make tables, which upgrades need; make it the owner of the schema aerogram.";
        found.push(Finding::Soon(text.to_owned()));
    }
    found
}

fn dead_rows(TableRows { table, n_live, n_dead }: &TableRows) -> Option<Finding> {
    (*n_dead > FEW_ROWS && n_dead > n_live).then(|| {
        Finding::Soon(format!(
            "{n_dead} of {} rows of {table} are dead; see whether autovacuum is on, and what holds it up (pg_stat_activity).",
            n_dead + n_live
        ))
    })
}

fn lag(Standby { name, lag_millis }: &Standby) -> Option<Finding> {
    (*lag_millis > LONG_LAG_MILLIS).then(|| {
        let seconds = lag_millis / 1000;
        Finding::Soon(format!("The standby '{name}' is {seconds} s behind, which would be lost if it took over."))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> ServerFacts {
        let settings =
            [("fsync", "on"), ("full_page_writes", "on"), ("synchronous_commit", "on"), ("transaction_timeout", "0")];
        ServerFacts {
            version: "17.2".to_owned(),
            n_connections: 10,
            most_connections: 97,
            round_trip: Duration::from_micros(300),
            settings: settings.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
            may_make_tables: true,
            n_forbidden_tables: 0,
            biggest_tables: vec![TableRows { table: "log".to_owned(), n_live: 10_000, n_dead: 90_000 }],
            standbys: vec![Standby { name: "b".to_owned(), lag_millis: 10_000 }],
        }
    }

    fn said(facts: &ServerFacts) -> Vec<String> {
        let text = |finding: Finding| match finding {
            Finding::Soon(text) | Finding::Wrong(text) => text,
            Finding::Fine(_) | Finding::Note(_) => panic!("nothing that is wrong"),
        };
        findings(facts, PostgresSettings::default()).into_iter().map(text).collect()
    }

    #[test]
    fn a_server_in_order_is_not_found_fault_with() {
        assert_eq!(said(&facts()), Vec::<String>::new());
        assert_eq!(
            summary(&facts()),
            " PostgreSQL 17.2 has 10 of 97 connections in use, answers in 0.3 ms, and has a standby."
        );
    }

    #[test]
    fn everything_that_is_not_as_it_should_be_is_told() {
        for (name, value) in [
            ("fsync", "off"),
            ("full_page_writes", "off"),
            ("synchronous_commit", "off"),
            ("idle_session_timeout", "5000"),
            ("transaction_timeout", "59999"),
        ] {
            let mut wrong = facts();
            wrong.settings.insert(name.to_owned(), value.to_owned());
            let [told] = &said(&wrong)[..] else { panic!("{name}: {:?}", said(&wrong)) };
            assert!(told.contains(&format!("{name} = {value}")), "{told}");
        }
        type Damage = fn(&mut ServerFacts);
        let cases: [(Damage, &str); 6] = [
            (|facts| facts.n_connections = 89, "has 8 free connections and a node that starts wants 9"),
            (|facts| facts.round_trip = Duration::from_millis(20), "takes 20 ms"),
            (|facts| facts.may_make_tables = false, "cannot make tables"),
            (|facts| facts.n_forbidden_tables = 3, "change 3 tables"),
            (|facts| facts.biggest_tables[0].n_dead = 200_000, "200000 of 210000 rows of log are dead"),
            (|facts| facts.standbys[0].lag_millis = 61_500, "'b' is 61 s behind"),
        ];
        for (change, text) in cases {
            let mut wrong = facts();
            change(&mut wrong);
            let told = said(&wrong);
            assert!(told.len() == 1 && told[0].contains(text), "{told:?}");
        }
    }
}
