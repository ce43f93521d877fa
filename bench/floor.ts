import { type ChildProcess, fork } from 'node:child_process'
import cluster from 'node:cluster'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { connectionOptions } from '../src/db/connection.ts'

/*
 * The floor: the minimum work of a response. A bare `node:http` handler on as many processes as the service, which runs one
 * named single-row SELECT over pipelined connections configured like the service's, and writes as many bytes.
 */

type Settings = { port: number; databaseUrl: string; processes: number; projects: number }

/** Starts the floor; `GET /<bytes>` responds with that many bytes. */
export async function startFloor(settings: Settings): Promise<AsyncDisposable> {
  const child: ChildProcess = fork(fileURLToPath(import.meta.url), ['primary', JSON.stringify(settings)])
  await once(child, 'message')
  return {
    [Symbol.asyncDispose]: async () => {
      const ended = once(child, 'exit')
      child.disconnect()
      await ended
    },
  }
}

function primary({ processes }: Settings, settings: string): void {
  cluster.setupPrimary({ exec: fileURLToPath(import.meta.url), args: ['worker', settings] })
  let listening = 0
  cluster.on('listening', () => {
    if (++listening === processes) process.send!('listening')
  })
  for (let index = 0; index < processes; index++) cluster.fork()
  process.on('disconnect', () => process.exit())
}

const statement = { name: 'floor', text: 'select id, name, full_path, visibility from projects where id = $1' }

function worker({ port, databaseUrl, projects }: Settings): void {
  const clients = Array.from(
    { length: 3 },
    () => new pg.Client({ ...connectionOptions(databaseUrl, 'floor'), pipeline: true } as pg.ClientConfig),
  )
  const body = Buffer.alloc(4_000_000, 'x')
  let id = 0
  const server = createServer({ keepAliveTimeout: 72_000 }, async (req, res) => {
    id = (id % projects) + 1
    const { rows } = await clients[id % clients.length]!.query({ ...statement, values: [id] })
    const bytes = Number(req.url!.slice(1))
    res.writeHead(rows.length === 1 ? 200 : 500, { 'content-type': 'application/json', 'content-length': bytes })
    res.end(body.subarray(0, bytes))
  })
  Promise.all(clients.map((client) => client.connect())).then(() => server.listen(port, '127.0.0.1'))
  process.on('disconnect', () => process.exit())
}

const [role, settings] = process.argv.slice(2)
if (role === 'primary' && process.send) primary(JSON.parse(settings!) as Settings, settings!)
if (role === 'worker' && cluster.isWorker) worker(JSON.parse(settings!) as Settings)
