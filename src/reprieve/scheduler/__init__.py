"""The live loop: queue, cycles, nominations, delayed and asynchronous preemption.

room, queue, wakeups     who waits, who is next, what helps whom
core                     the state machine: observations in, actions out; no I/O, no clock
promises, preemptions    nominations and evictions under way
marks, recovery          what a crash leaves in the API objects, and how it is finished or undone
actions                  actions as data, and the port through which they are performed
shell, lanes, live       the asyncio loop around the core, and the port to a real API server
status, metrics          words and numbers for people
endpoints, service       HTTP, informers, leader election: the process
"""
