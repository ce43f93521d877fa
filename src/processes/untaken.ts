import type { ChildProcess, SendHandle } from 'node:child_process'

/** The messages of node:cluster that offer a connection to a worker, and acknowledge it. */
type Offer = { readonly cmd?: string; readonly act?: string; readonly seq?: number }
type Reply = { readonly cmd?: string; readonly ack?: number }

type Offered = SendHandle & { close(): void }

/**
 * Closes the connections that were sent to a worker but not acknowledged before it ended. Node waits for the acknowledgement
 * forever and keeps them open, so that their clients would hang.
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
