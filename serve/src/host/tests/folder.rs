//! The working directory of a session.

use crate::host::testing::{block_on_runtime, host, named, says};
use crate::host::{NewSession, PromptOutcome};

#[test]
fn relative_paths_begin_in_the_folder_of_the_session() {
    let (host, watcher) = host(
        "pipeline default(task) {\n\
         mkdir(\"notes\")\n\
         write_file(\"notes/a.txt\", task)\n\
         append_file(\"notes/a.txt\", \"!\")\n\
         llm_mock({tool_calls: [{name: \"read_file\", arguments: {path: \"a.txt\"}}]})\n\
         let seen = agent_loop(\"go\", nil, {provider: \"mock\", tools: file_tools({root: \"notes\"}), max_iterations: 1})\n\
         let said = seen.transcript.messages.last().content\n\
         agent_loop(\"go\", nil, {llm_caller: { a -> \"\" }, max_iterations: 1, persist_path: \"loop.json\"})\n\
         let found = [read_file(\"notes/a.txt\"), file_exists(\"notes/b.txt\"), said.contains(\"!\"), list_dir(\"notes\")]\n\
         delete_file(\"notes/a.txt\")\n\
         return found.map({ it -> \"${it}\" }).join(\" \") + \" \" + list_dir(\".\").join(\" \")\n}",
        1,
    );
    let folder = std::env::temp_dir().join(format!("harn-folder-{}", std::process::id()));
    block_on_runtime(async {
        for name in ["a", "b"] {
            let cwd = folder.join(name);
            std::fs::create_dir_all(&cwd).unwrap();
            let session = host.open(NewSession { cwd: Some(cwd), ..named(name) }).await.unwrap();
            let ended = session.prompt(says(name)).await.unwrap();
            assert_eq!(ended.stop, PromptOutcome::Done, "{ended:?}");
            assert_eq!(watcher.text(name), format!("{name}! false true [a.txt] loop.json notes"));
        }
    });
    std::fs::remove_dir_all(folder).unwrap();
}
