import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { createInterface } from 'node:readline'

/** A mail server that records what it reads, line by line. It accepts every mail, except to `refused@…`. */
export async function startMailServer(): Promise<{ url: string; lines: string[] } & AsyncDisposable> {
  const lines: string[] = []
  const server = createServer((socket) => {
    let inData = false
    const say = (text: string) => socket.write(`${text}\r\n`)
    say('220 mail.test')
    createInterface({ input: socket }).on('line', (line) => {
      lines.push(line)
      if (inData) {
        if (line !== '.') return
        inData = false
        return say('250 accepted')
      }
      if (/^DATA/i.test(line)) {
        inData = true
        return say('354 go on')
      }
      if (/^QUIT/i.test(line)) return socket.end('221 bye\r\n')
      if (/^RCPT.*refused@/i.test(line)) return say('550 no such mailbox')
      say('250 mail.test')
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { url: `smtp://127.0.0.1:${port}`, lines, [Symbol.asyncDispose]: async () => void server.close() }
}
