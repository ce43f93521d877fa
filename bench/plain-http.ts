import { spawn } from 'node:child_process'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gitEnv } from './repository.ts'

/** Git's own smart HTTP server (`git http-backend`, a CGI program) for the repositories of a folder, for comparison. */
export async function startPlainHttp(folder: string): Promise<{ url: string } & AsyncDisposable> {
  const server = createServer((req, res) => serve(folder, req, res))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

function serve(folder: string, req: IncomingMessage, res: ServerResponse): void {
  const { pathname, search } = new URL(req.url!, 'http://127.0.0.1')
  const header = (name: string) => (req.headers[name] as string | undefined) ?? ''
  const child = spawn('git', ['http-backend'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: {
      ...gitEnv,
      GIT_PROJECT_ROOT: folder,
      GIT_HTTP_EXPORT_ALL: '1',
      REMOTE_USER: 'bench',
      REQUEST_METHOD: req.method,
      PATH_INFO: pathname,
      QUERY_STRING: search.slice(1),
      CONTENT_TYPE: header('content-type'),
      HTTP_CONTENT_ENCODING: header('content-encoding'),
      GIT_PROTOCOL: header('git-protocol'),
    },
  })
  req.pipe(child.stdin)
  let head = Buffer.alloc(0)
  child.stdout.on('data', (chunk: Buffer) => {
    if (res.headersSent) return void res.write(chunk)
    head = Buffer.concat([head, chunk])
    const end = head.indexOf('\r\n\r\n')
    if (end < 0) return
    const lines = head.subarray(0, end).toString('latin1').split('\r\n')
    const headers = lines.map((line) => line.split(/:\s*/, 2) as [string, string])
    const status = Number(headers.find(([name]) => name === 'Status')?.[1]?.slice(0, 3) ?? 200)
    res.writeHead(status, Object.fromEntries(headers.filter(([name]) => name !== 'Status')))
    res.write(head.subarray(end + 4))
  })
  child.on('close', () => res.end())
}
