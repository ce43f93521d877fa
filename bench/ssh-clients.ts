import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import ssh2 from 'ssh2'
import { sshOptions } from './ssh-keys.ts'

/*
 * Clients of SSH in this process, which cost no start of a program, and those who stall.
 */

/** Without a delay of Nagle's, which the library's client leaves on. */
const open = (port: number): Socket => {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true })
  // A service that has had enough of a client may cut it off.
  return socket.on('error', () => {})
}

/** From the connection to the proof of the key, and both ends of the answer of `ssh git@…`: a sentence. */
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

/** Milliseconds from the connection to the refusal of a key that nobody has. */
export async function refused(port: number, key: string): Promise<number> {
  const began = performance.now()
  return signIn(port, key).then(
    () => Promise.reject(new Error('the key was taken')),
    () => performance.now() - began,
  )
}

/** The same with OpenSSH, whose own start is part of it. Also where nobody listens, which is that start and little else. */
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

/** One who stalls; `stays` says whether the service still has him. */
export type Stalled = { stays(): boolean; leave(): void }

const stalledSocket = async (port: number, said: string | Buffer): Promise<Stalled> => {
  const socket = open(port)
  await once(socket, 'connect')
  socket.write(said)
  socket.resume()
  return { stays: () => !socket.closed, leave: () => socket.destroy() }
}

/** Where one may stop. Each makes one who does. */
export const stalling: Readonly<Record<string, (port: number, key: string) => Promise<Stalled>>> = {
  'who say nothing': (port) => stalledSocket(port, ''),
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

/** The first packet of a key exchange (RFC 4253, 7.1): what we can. The key that should follow never comes. */
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
