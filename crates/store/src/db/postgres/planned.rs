//! Prepared statements, and when they are prepared again.
//!
//! The server plans a statement for tables of the size that they have when it is first run. In an empty table one index seems as
//! good as another, and a plan that searches the wrong one stays until autovacuum has looked at the table: changing a push by its
//! key took a millisecond, by an index of all pushes of the app. So a statement is prepared again when it was used sixteen times,
//! four times as often, and so on; by then there are rows to plan for.

use tokio_postgres::Statement;

const FIRST_PLAN: u64 = 16;

pub(super) struct Planned {
    statement: Statement,
    n_uses: u64,
    plan_again_at: u64,
}

pub(super) enum Reuse {
    Ready(Statement),
    PlanAgain { n_uses: u64 },
}

impl Planned {
    /// A statement that was used some times with earlier plans.
    pub(super) fn new(statement: Statement, n_uses: u64) -> Self {
        Self { statement, n_uses, plan_again_at: next_plan(n_uses) }
    }

    pub(super) fn use_again(&mut self) -> Reuse {
        self.n_uses += 1;
        if self.n_uses < self.plan_again_at {
            Reuse::Ready(self.statement.clone())
        } else {
            Reuse::PlanAgain { n_uses: self.n_uses }
        }
    }
}

const fn next_plan(n_uses: u64) -> u64 {
    let next = n_uses.saturating_mul(4);
    if next < FIRST_PLAN { FIRST_PLAN } else { next }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_are_made_again_ever_more_rarely() {
        let plans = std::iter::successors(Some(next_plan(0)), |n_uses| Some(next_plan(*n_uses)));
        assert_eq!(plans.take(4).collect::<Vec<_>>(), [16, 64, 256, 1024]);
    }
}
