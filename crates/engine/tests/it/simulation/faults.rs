//! What goes wrong: nodes die, commits get lost on their way, the disk is full, the database hangs up, providers break down.

use std::time::Duration;

use store::apps::OPERATOR;
use testkit::cable::Damage;
use testkit::postgres;

use super::World;

#[derive(Debug)]
enum Fault {
    Crash,
    CrashWhileSending,
    Providers,
    FullDisk,
    Cable,
    HangUp,
}

impl World {
    pub(super) async fn fail(&mut self) {
        self.n_faults += 1;
        let fault = match self.chance.below(5) {
            0 => Fault::Crash,
            1 => Fault::CrashWhileSending,
            2 => Fault::Providers,
            _ if self.cables.is_empty() => Fault::FullDisk,
            3 => Fault::Cable,
            _ => Fault::HangUp,
        };
        println!("  {fault:?}");
        match fault {
            Fault::Crash => self.crash(false).await,
            Fault::CrashWhileSending => self.crash(true).await,
            Fault::Providers => self.break_providers(),
            Fault::FullDisk => self.fill_disk().await,
            Fault::Cable => self.damage_cable(),
            Fault::HangUp => self.hang_up(),
        }
    }

    /// A node dies, perhaps while it sends.
    async fn crash(&mut self, while_it_sends: bool) {
        let place = self.chance.below(self.nodes.len());
        self.heal().await;
        if while_it_sends {
            self.begin_to_send(place).await;
        }
        let torn = self.torn();
        let node = self.nodes.remove(place);
        self.nodes.insert(place, node.crash(&torn).await);
        self.receiver.release();
        self.n_healed = self.n_faults;
    }

    /// Runs jobs until one waits for the answer of a provider, which it will not hear.
    async fn begin_to_send(&self, place: usize) {
        let n_before = self.receiver.received().len();
        self.receiver.hold_after(n_before);
        let worker = self.nodes[place].engine().worker();
        let mut working = tokio::spawn(async move { while matches!(worker.step().await, Ok(true)) {} });
        tokio::select! {
            _ = &mut working => return,
            _ = self.receiver.wait_for(n_before + 1) => {}
        }
        working.abort();
        // Whatever it had under way has ended when this returns.
        drop(working.await);
    }

    /// The end of a write that the disk has only begun: nothing, noise, or a piece that looks like what was there before.
    fn torn(&mut self) -> Vec<u8> {
        let n_bytes = self.chance.pick(&[0, 1, 24, 4119, 4120, 9000]);
        let noisy = self.chance.percent(50);
        (0..n_bytes).map(|_| if noisy { u8::try_from(self.chance.below(256)).unwrap() } else { 0 }).collect()
    }

    fn break_providers(&mut self) {
        let status = self.chance.pick(&[429, 500, 503]);
        let n_answers = 1 + self.chance.below(4);
        self.receiver.answer_with(std::iter::repeat_n(status, n_answers));
    }

    /// The next commit of one node gets lost, or its answer does.
    fn damage_cable(&mut self) {
        let place = self.chance.below(self.cables.len());
        let slow = Damage::Slow(Duration::from_millis(300));
        self.cables[place].damage(self.chance.pick(&[Damage::RequestLost, Damage::AnswerLost, slow]));
    }

    /// The database ends all its connections.
    fn hang_up(&mut self) {
        let url = self.cables[0].url();
        let others = "datname = current_database() and pid <> pg_backend_pid()";
        postgres::cluster()
            .ask(url, &format!("select count(pg_terminate_backend(pid)) from pg_stat_activity where {others}"));
    }

    /// There is no room for another page.
    async fn fill_disk(&mut self) {
        self.limit_pages(1).await;
    }

    /// Ends every fault that does not end by itself.
    pub(super) async fn heal(&mut self) {
        self.n_healed = self.n_faults;
        self.receiver.recover();
        for cable in &self.cables {
            cable.mend();
        }
        if self.cables.is_empty() {
            self.limit_pages(u32::MAX - 1).await;
        }
    }

    /// SQLite takes no limit below what there is.
    async fn limit_pages(&self, most: u32) {
        let limit = format!("pragma max_page_count = {most}");
        let set = self.nodes[0]
            .engine()
            .store()
            .write(OPERATOR, move |tx| tx.query_one(&limit, &[], |row| row.get::<i64>(0)));
        set.await.unwrap_or_else(|error: store::Error| panic!("{error}"));
    }
}
