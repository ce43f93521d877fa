import type { ChildProcess, SendHandle } from 'node:child_process'

/** How node:cluster hands a connection to a worker, and how the worker says that it has it. */
type Offer = { readonly cmd?: string; readonly act?: string; readonly seq?: number }
type Reply = { readonly cmd?: string; readonly ack?: number }

type Offered = SendHandle & { close(): void }

/**
 * Closes the connections that were handed to a worker and that it had not taken when it ended. Node waits for its word for
 * ever, and holds them open: whoever is on the other side would wait, too.
 */
export function closeUntaken(worker: ChildProcess): void {
  const offered = new Map<number, Offered>()
  const send = worker.send.bind(worker) as (message: Offer, ...rest: unknown[]) => boolean
  worker.send = ((message: Offer, ...rest: unknown[]) => {
    const [handle] = rest
    if (message.cmd === 'NODE_CLUSTER' && message.act === 'newconn' && message.seq !== undefined && handle)
      offered.set(message.seq, handle as Offered)
    return send(message, ...rest)
  }) as ChildProcess['send']
  worker.on('internalMessage', ({ cmd, ack }: Reply) => {
    if (cmd === 'NODE_CLUSTER' && ack !== undefined) offered.delete(ack)
  })
  worker.once('exit', () => {
    for (const handle of offered.values()) handle.close()
    offered.clear()
  })
}
