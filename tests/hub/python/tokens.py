"""A hub with tokens: callers are who their token says. Claims over the extension for workers."""

import sys

import a2a_pb2 as a2a
import agenthub_pb2 as hub
import grpc
from agents import LIMIT, Agent, new, refused


def varint(value):
    while value > 127:
        yield value & 127 | 128
        value >>= 7
    yield value


def field(number, payload):
    payload = payload.encode() if isinstance(payload, str) else payload
    return bytes([*varint(number << 3 | 2), *varint(len(payload))]) + payload


def fields(message):
    """Decodes the fields of a message: numbers, and the bytes of the rest."""
    found, at = {}, 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(message):
        key = number()
        if key & 7 == 0:
            found[key >> 3] = number()
        else:
            assert key & 7 == 2, key
            size = number()
            found[key >> 3] = message[at : at + size]
            at += size
    return found


class Worker(Agent):
    def work(self, method, request):
        call = self.channel.unary_unary(f"/harn.hub.v1.HubWorker/{method}")
        return fields(call(request, timeout=LIMIT, metadata=self.metadata))


def identities(address, anna):
    code = grpc.StatusCode
    for token in (None, "wrong-0123456789abcdef"):
        refused(code.UNAUTHENTICATED, Agent, address, "anna", token=token)
    message = a2a.Message(message_id=new("msg"), task_id=new("task"), role=a2a.ROLE_USER)
    other = hub.AgentEventMetadata(from_agent_id="ben", to_agent_id="ben")
    request = hub.PublishMessageRequest(message=message, routing=other)
    refused(code.PERMISSION_DENIED, anna.call, "PublishMessage", request)
    stream = anna.stub.SubscribeToTasks(hub.SubscribeToTasksRequest(agent_id="ben"), metadata=anna.metadata)
    refused(code.PERMISSION_DENIED, next, stream)
    # The sender that a token names need not name itself.
    request.routing.from_agent_id = ""
    assert anna.call("PublishMessage", request).success


def claimed(worker, more=b""):
    """Claims a task of the queue, and waits for it for at most five seconds. Returns the claim and its lease."""
    claim = worker.work("Claim", field(2, "race") + field(5, b"\x08\x05") + more)
    claim = fields(claim[1])
    return claim, fields(claim[2])


def claims(anna, ben, cleo):
    task_id, code = new("task"), grpc.StatusCode
    anna.publish("work", task_id=task_id, context_id=new("ctx"), metadata={"queue": "race"})
    # CAPACITY_EXCEEDED: the task goes to the next candidate.
    claim, lease = claimed(cleo)
    assert (lease[1].decode(), claim[3], claim[9]) == (task_id, 1, b"race"), claim
    assert 1 not in ben.work("Claim", field(2, "race")), "two workers have the same task"
    cleo.work("Reject", field(2, task_id) + field(3, lease[2]) + bytes([4 << 3, 2]) + field(5, "busy"))
    # A worker that is lost: its lease of one second ends, and the next attempt continues from its token.
    claim, lease = claimed(ben, field(3, b"\x08\x01"))
    held = field(2, task_id) + field(3, lease[2])
    assert ben.work("Progress", held + field(6, "half"))[1].decode() == task_id
    lost = claim[3]
    claim, lease = claimed(ben)
    assert (claim[3], claim[5]) == (lost + 1, b"half"), claim
    for method in ("Renew", "Progress"):
        assert refused(code.ABORTED, ben.work, method, held).details()
    held = field(2, task_id) + field(3, lease[2])
    done = held + bytes([4 << 3, a2a.TASK_STATE_COMPLETED])
    # A claimed task begins with the first report of its worker.
    ben.work("Progress", held)
    task = ben.work("Finish", done + field(6, field(1, "a") + field(5, field(1, "result"))))
    assert task[1].decode() == task_id, task
    finished = anna.task(task_id)
    assert finished.status.state == a2a.TASK_STATE_COMPLETED, finished
    assert finished.artifacts[0].parts[0].text == "result", finished


def main(address):
    anna, ben, cleo = (
        Worker(address, name, ["race"] if name != "anna" else [], token=f"{name}-0123456789abcdef")
        for name in ("anna", "ben", "cleo")
    )
    identities(address, anna)
    print("ok identities", flush=True)
    claims(anna, ben, cleo)
    print("ok claims", flush=True)


main(sys.argv[1])
