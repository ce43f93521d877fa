import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream, openSync, writeSync } from 'node:fs'
import { buffer } from 'node:stream/consumers'
import { type Call, type Ended, frame, partsOf } from './frames.ts'

/*
 * Starts the programs of one test worker, in a process of its own: starting a program copies the page tables of the process
 * that starts it, which takes 10 ms in a worker with all tests in its memory and less than 1 ms here.
 *
 * A call that the worker waits for comes and is answered through the two pipes whose paths are the arguments. Others come and
 * are answered over the IPC channel, with an id, and run concurrently.
 */

async function run({ program, args, cwd, env, input, timeoutMs }: Call): Promise<Ended> {
  const child = spawn(program, args, { cwd, env, stdio: ['pipe', 'pipe', 'pipe'], timeout: timeoutMs })
  const failed = new Promise<NodeJS.ErrnoException>((resolve) => child.once('error', resolve))
  const closed = new Promise<Ended>((resolve) => {
    const output = Promise.all([buffer(child.stdout), buffer(child.stderr)])
    child.once('close', async (code, signal) => {
      const [stdout, stderr] = await output
      resolve({ code, signal, stdout, stderr, failure: undefined })
    })
  })
  // A program may end without reading what it is given.
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  const none = Buffer.alloc(0)
  return Promise.race([
    closed,
    failed.then(({ code, message }): Ended => {
      return { code: code ?? null, signal: null, stdout: none, stderr: none, failure: message }
    }),
  ])
}

function answer(to: number, { stdout, stderr, ...rest }: Ended): void {
  const message = frame(rest, stdout, stderr)
  for (let at = 0; at < message.length; ) at += writeSync(to, message, at)
}

async function serve(calls: string, answers: string): Promise<void> {
  const incoming = createReadStream(calls)
  // The worker opens this pipe first, and the other one only then.
  await once(incoming, 'open')
  const to = openSync(answers, 'w')
  let received = Buffer.alloc(0)
  for await (const chunk of incoming) {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
    if (received.length < 4 || received.length < 4 + received.readUInt32BE()) continue
    const [call, input] = partsOf(received.subarray(4))
    received = Buffer.alloc(0)
    answer(to, await run({ ...JSON.parse(String(call)), input }))
  }
}

process.on('message', async ({ id, call }: { id: number; call: Call }) => process.send!({ id, ended: await run(call) }))
process.on('disconnect', () => process.exit())
const [, , calls, answers] = process.argv
await serve(calls!, answers!)
