//! Pages of the tasks in memory.

use a2a::ListTasks;

use super::*;
use crate::host::testing::block_on_runtime;

/// Returns the tasks on each page, from the first to the last.
async fn pages(manager: &TaskManager, asked: &ListTasks) -> Vec<Vec<String>> {
    let (mut asked, mut pages) = (asked.clone(), Vec::new());
    loop {
        let page = manager.list(asked.clone()).await.unwrap();
        pages.push(page.tasks.iter().map(|task| task.history[0].text()).collect());
        if page.next_page_token.is_empty() {
            return pages;
        }
        asked.page_token = Some(page.next_page_token.into());
    }
}

#[test]
fn a_page_ends_early_where_its_tasks_take_much() {
    let manager = manager("pipeline default(task) { return \"x\".repeat(to_int(task)) }");
    block_on_runtime(async {
        let sizes = ["3000000", "3000001", "12000000", "3000002", "3000003"];
        for size in sizes {
            is(&say(&manager, message(size)).await, TaskState::Completed);
            // The next task ends later.
            let now = crate::clock::now_ms();
            until("a later time", || crate::clock::now_ms() > now).await;
        }
        let made = ListTasks { include_artifacts: true, ..ListTasks::default() };
        let [a, b, c, d, e] = sizes;
        assert_eq!(pages(&manager, &made).await, [vec![e, d], vec![c], vec![b, a]]);
        assert_eq!(manager.list(made.clone()).await.unwrap().total_size, 5);
        assert_eq!(pages(&manager, &ListTasks { page_size: Some(1), ..made }).await.len(), 5);
        // Parts that are not requested do not count.
        assert_eq!(pages(&manager, &ListTasks::default()).await.len(), 1);
        assert_eq!(pages(&manager, &ListTasks { history_length: Some(9), ..ListTasks::default() }).await.len(), 1);
    });
}
