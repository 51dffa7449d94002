"""The five patterns of tasks between two or more agents, over the published service."""

import json
import sys
import threading
import urllib.request

import a2a_pb2 as a2a
import agenthub_pb2 as hub
import grpc
from agents import LIMIT, Agent, new, next_task, refused, text_of, until_final

DONE = [a2a.TASK_STATE_WORKING, a2a.TASK_STATE_COMPLETED]


def result_of(agent, task_id):
    task = agent.task(task_id)
    assert task.status.state == a2a.TASK_STATE_COMPLETED, task
    return [text_of(artifact.parts) for artifact in task.artifacts]


def request_response(asker, worker):
    asked, work = asker.tasks(), worker.tasks()
    task_id = new("task")
    asker.publish("Convert CSV to JSON", task_id=task_id, context_id=new("ctx"), to=worker.name)
    task = next_task(work)
    assert (task.id, text_of(task.history[0].content)) == (task_id, "Convert CSV to JSON"), task
    worker.complete(task, "converted")
    assert until_final(asked, task_id) == DONE
    assert result_of(asker, task_id) == ["converted"]


def broadcast(asker, workers):
    inboxes = [worker.tasks() for worker in workers]
    task_id = new("task")
    asker.publish("Process your chunk", task_id=task_id, context_id=new("ctx"), subscriptions=["chunks"])
    copies = [next_task(inbox) for inbox in inboxes]
    assert len({task.id for task in copies}) == len(workers), copies
    for task in copies:
        assert task.metadata["parent_task_id"] == task_id, task
    workers[0].complete(copies[0], "chunk of " + workers[0].name)
    assert asker.task(task_id).status.state not in DONE[1:], "the parent is over before its last copy"
    for worker, task in list(zip(workers, copies))[1:]:
        worker.complete(task, "chunk of " + worker.name)
    assert asker.task(task_id).status.state == a2a.TASK_STATE_COMPLETED
    for worker, task in zip(workers, copies):
        assert result_of(asker, task.id) == ["chunk of " + worker.name]


def pipeline(asker, stages):
    context = new("ctx")
    inboxes = [stage.tasks() for stage in stages]

    def work(at):
        task = next_task(inboxes[at], lambda task: task.context_id == context)
        said = text_of(task.history[0].content) + f" > {stages[at].name}"
        stages[at].update(task, a2a.TASK_STATE_WORKING, "Task started")
        if at + 1 < len(stages):
            stages[at].publish(said, task_id=new("task"), context_id=context, to=stages[at + 1].name)
        stages[at].artifact(task, "result", said)
        stages[at].update(task, a2a.TASK_STATE_COMPLETED, "Done")

    asker.publish("raw", task_id=new("task"), context_id=context, to=stages[0].name)
    for at in range(len(stages)):
        work(at)
    tasks = asker.call("ListTasks", hub.ListTasksRequest(context_id=context)).tasks
    assert len(tasks) == len(stages) and all(task.context_id == context for task in tasks), tasks
    results = {text_of(artifact.parts) for task in tasks for artifact in task.artifacts}
    assert "raw > " + " > ".join(stage.name for stage in stages) in results, results


def hierarchical(asker, coordinator, specialists):
    asked, inbox = asker.tasks(), coordinator.tasks()
    inboxes = [specialist.tasks() for specialist in specialists]
    context, task_id = new("ctx"), new("task")
    asker.publish("Perform a business analysis", task_id=task_id, context_id=context, to=coordinator.name)
    parent = next_task(inbox, lambda task: task.id == task_id)
    coordinator.update(parent, a2a.TASK_STATE_WORKING, "Splitting")
    parts = {}
    for specialist in specialists:
        parts[specialist.name] = new("task")
        coordinator.publish(
            f"Analyse {specialist.name}", task_id=parts[specialist.name], context_id=context,
            metadata={"parent_task_id": task_id}, to=specialist.name,
        )
    for specialist, own in zip(specialists, inboxes):
        task = next_task(own, lambda task: task.context_id == context)
        assert task.metadata["parent_task_id"] == task_id, task
        specialist.complete(task, f"{specialist.name} is fine")
    for part in parts.values():
        assert until_final(inbox, part) == DONE
    results = [text_of(coordinator.task(part).artifacts[0].parts) for part in parts.values()]
    coordinator.artifact(parent, "report", "; ".join(results))
    coordinator.update(parent, a2a.TASK_STATE_COMPLETED, "Done")
    assert until_final(asked, task_id) == DONE
    assert result_of(asker, task_id) == ["; ".join(f"{it.name} is fine" for it in specialists)]


def competitive(asker, workers):
    inboxes = [worker.tasks() for worker in workers]
    task_id = new("task")
    asker.publish("First come, first served", task_id=task_id, context_id=new("ctx"), metadata={"queue": "race"})
    tasks = [next_task(inbox, lambda task: task.id == task_id) for inbox in inboxes]
    won, lost, start = [], [], threading.Barrier(len(workers))

    def take(worker, task):
        start.wait(LIMIT)
        try:
            worker.update(task, a2a.TASK_STATE_WORKING, worker.name)
            won.append((worker, task))
        except grpc.RpcError as error:
            lost.append(error.code())

    threads = [threading.Thread(target=take, args=pair) for pair in zip(workers, tasks)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LIMIT)
    assert len(won) == 1 and len(lost) == len(workers) - 1, (won, lost)
    assert set(lost) <= {grpc.StatusCode.FAILED_PRECONDITION, grpc.StatusCode.PERMISSION_DENIED}, lost
    worker, task = won[0]
    worker.artifact(task, "result", worker.name)
    worker.update(task, a2a.TASK_STATE_COMPLETED, "Done")
    assert result_of(asker, task_id) == [worker.name]


def refusals(asker, worker):
    code = grpc.StatusCode
    unknown = a2a.Task(id="no-such-task")
    refused(code.NOT_FOUND, worker.update, unknown, a2a.TASK_STATE_WORKING, "")
    refused(code.NOT_FOUND, asker.task, "no-such-task")
    refused(code.INVALID_ARGUMENT, asker.call, "PublishMessage", hub.PublishMessageRequest())
    refused(code.INVALID_ARGUMENT, asker.call, "ListTasks", hub.ListTasksRequest(states=[99]))
    inbox, task_id = worker.tasks(), new("task")
    asker.publish("once", task_id=task_id, context_id=new("ctx"), to=worker.name)
    task = next_task(inbox, lambda task: task.id == task_id)
    worker.complete(task, "x")
    error = refused(code.FAILED_PRECONDITION, worker.update, task, a2a.TASK_STATE_WORKING, "again")
    for state in ["COMPLETED", "WORKING"]:
        assert state in error.details(), error.details()
    # A repeated message is answered with the first result.
    message_id, task_id = new("msg"), new("task")
    both = [asker.publish("twice", task_id=task_id, to=worker.name, message_id=message_id) for _ in range(2)]
    assert both[0] == both[1], both
    assert len(asker.task(task_id).history) == 1
    cancelled = asker.call("CancelTask", hub.CancelTaskRequest(task_id=task_id, reason="no longer needed"))
    assert cancelled.status.state == a2a.TASK_STATE_CANCELLED, cancelled


def over_http(url, worker):
    """The hub as an agent of the Agent2Agent protocol: a skill selects the worker, and the caller waits."""
    with urllib.request.urlopen(url + ".well-known/agent-card.json", timeout=LIMIT) as answer:
        card = json.load(answer)
    assert f"{worker.name}/{worker.name}-skill" in [skill["id"] for skill in card["skills"]], card
    inbox = worker.tasks()

    def work():
        worker.complete(next_task(inbox, lambda task: text_of(task.history[0].content) == "over HTTP"), "answered")

    thread = threading.Thread(target=work)
    thread.start()
    message = {
        "kind": "message", "messageId": new("msg"), "role": "user", "parts": [{"kind": "text", "text": "over HTTP"}],
        "metadata": {"skill": f"{worker.name}-tag"},
    }
    task = rpc(url, "message/send", {"message": message})["result"]
    thread.join(LIMIT)
    assert task["status"]["state"] == "completed", task
    assert task["artifacts"][0]["parts"][0]["text"] == "answered", task
    assert rpc(url, "tasks/get", {"id": task["id"]})["result"] == task
    error = rpc(url, "tasks/cancel", {"id": task["id"]})["error"]
    assert error["code"] == -32002, error
    message |= {"messageId": new("msg"), "metadata": {"to_agent_id": "nobody"}}
    assert rpc(url, "message/send", {"message": message})["error"]["code"] == -32001
    message |= {"messageId": new("msg"), "metadata": {}}
    error = rpc(url, "message/send", {"message": message})["error"]
    assert error["code"] == -32602 and error["data"]["field"] == "metadata.to_agent_id", error


def rpc(url, method, params):
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=LIMIT) as answer:
        return json.load(answer)


def main(address, url):
    names = ["anna", "ben", "cleo"]
    tags = ["chunks", "race"]
    anna, ben, cleo = (Agent(address, name, tags if name != "anna" else []) for name in names)
    for name, run in [
        ("request-response", lambda: request_response(anna, ben)),
        ("broadcast", lambda: broadcast(anna, [ben, cleo])),
        ("pipeline", lambda: pipeline(anna, [ben, cleo])),
        ("hierarchical", lambda: hierarchical(anna, ben, [cleo])),
        ("competitive", lambda: competitive(anna, [ben, cleo])),
        ("refusals", lambda: refusals(anna, ben)),
        ("over HTTP", lambda: over_http(url, cleo)),
    ]:
        run()
        print(f"ok {name}", flush=True)
    for agent in (anna, ben, cleo):
        agent.close()


main(sys.argv[1], sys.argv[2])
