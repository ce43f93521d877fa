import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import ssh2 from 'ssh2'
import { sshOptions } from './ssh-keys.ts'

/* SSH clients in this process, which start no program, and clients that stall. */

/** Without Nagle's algorithm, which the library's client leaves enabled. */
const open = (port: number): Socket => {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true })
  // The service may close the connection.
  return socket.on('error', () => {})
}

/** Milliseconds from the connection to the end of `ssh git@…`, which prints one line. */
export async function welcomed(port: number, key: string): Promise<number> {
  const began = performance.now()
  const client = await signIn(port, key)
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  client.shell(false, (error, channel) => {
    if (error) reject(error)
    else channel.resume().on('close', resolve)
  })
  await promise
  client.end()
  return performance.now() - began
}

/** Milliseconds from the connection to the rejection of an unknown key. */
export async function refused(port: number, key: string): Promise<number> {
  const began = performance.now()
  return signIn(port, key).then(
    () => Promise.reject(new Error('the key was accepted')),
    () => performance.now() - began,
  )
}

/** Like `refused` with OpenSSH, including its start. Also for a port without a server, which measures little but that start. */
export async function refusedOpenSsh(port: number, key: string): Promise<number> {
  const began = performance.now()
  const [status] = await once(spawn('ssh', [...sshOptions(port, key), 'git@127.0.0.1'], { stdio: 'ignore' }), 'exit')
  if (status !== 255) throw new Error(`ssh ended with ${status} rather than being refused`)
  return performance.now() - began
}

function signIn(port: number, key: string): Promise<ssh2.Client> {
  const client = new ssh2.Client()
  const { promise, resolve, reject } = Promise.withResolvers<ssh2.Client>()
  client.on('ready', () => resolve(client)).on('error', reject)
  client.on('close', () => reject(new Error('closed')))
  client.connect({ sock: open(port), username: 'git', privateKey: readFileSync(key) })
  return promise
}

/** A stalled connection; `stays` tells whether the service still keeps it open. */
export type Stalled = { stays(): boolean; leave(): void }

const stalledSocket = async (port: number, firstBytes: string | Buffer): Promise<Stalled> => {
  const socket = open(port)
  await once(socket, 'connect')
  socket.write(firstBytes)
  socket.resume()
  return { stays: () => !socket.closed, leave: () => socket.destroy() }
}

/** Stalled connections by the stage at which they stop. */
export const stalling: Readonly<Record<string, (port: number, key: string) => Promise<Stalled>>> = {
  'silent from the start': (port) => stalledSocket(port, ''),
  'in the middle of the key exchange': (port) => stalledSocket(port, Buffer.concat([banner, keyExchangeInit()])),
  'signed in and silent': async (port, key) => {
    const client = await signIn(port, key)
    let stays = true
    client.on('close', () => {
      stays = false
    })
    return { stays: () => stays, leave: () => client.end() }
  },
}

const banner = Buffer.from('SSH-2.0-bench\r\n')

/** The first packet of a key exchange (RFC 4253, 7.1), with the algorithms. The key that should follow is never sent. */
function keyExchangeInit(): Buffer {
  const names = ['curve25519-sha256', 'ssh-ed25519', ...twice('aes128-gcm@openssh.com'), ...twice('hmac-sha2-256')]
  const lists = [...names, ...twice('none'), '', ''].map((list) => [uint32(list.length), Buffer.from(list)])
  const payload = Buffer.concat([Buffer.from([20]), randomBytes(16), ...lists.flat(), Buffer.alloc(5)])
  const padding = 4 + ((8 - ((5 + payload.length + 4) % 8)) % 8)
  return Buffer.concat([uint32(1 + payload.length + padding), Buffer.from([padding]), payload, Buffer.alloc(padding)])
}

const twice = (text: string): string[] => [text, text]

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
