import { once } from 'node:events'
import { connect } from 'node:net'
import { setPriority } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'

/*
 * node bench/flood.ts port path requests clients: asks for a path without credentials and closes each connection within ten
 * milliseconds. Runs at the lowest priority: the clients of a real service do not use its processors.
 */

const [port = 0, requests = 0, clients = 0] = [process.argv[2], process.argv[4], process.argv[5]].map(Number)
const path = process.argv[3]
setPriority(19)

let sent = 0
const client = async () => {
  while (sent < requests) {
    const afterMs = sent++ % 10
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    await Promise.race([once(socket, 'connect'), once(socket, 'close')])
    socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`)
    await sleep(afterMs)
    socket.destroy()
  }
}
await Promise.all(Array.from({ length: clients }, client))
