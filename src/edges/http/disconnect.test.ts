import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import type { Exchange } from './answer.ts'
import { sendBody } from './answer.ts'
import { ClientDisconnected, disconnectSignal } from './disconnect.ts'
import { beginExchange } from './exchange.ts'

/** Sends these bytes to a server, and returns the exchanges they cause. */
async function exchangesOf(bytes: string, count: number) {
  const exchanges: Exchange[] = []
  const arrived = Promise.withResolvers<void>()
  const server = createServer((req, res) => {
    exchanges.push(beginExchange({ raw: req, ip: '127.0.0.1', routeOptions: {} }, { raw: res }, 'http://127.0.0.1'))
    if (exchanges.length === count) arrived.resolve()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.on('error', () => {})
  socket.write(bytes)
  await arrived.promise
  return {
    exchanges,
    leave: () => close(socket, exchanges[0]!.req.socket),
    [Symbol.asyncDispose]: async () => {
      socket.destroy()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function close(socket: Socket, other: Socket): Promise<void> {
  const closed = new Promise((resolve) => other.once('close', resolve))
  const isClosed = other.closed
  socket.destroy()
  if (!isClosed) await closed
}

/** An endless stream that records whether it was destroyed. */
const endless = () => new Readable({ read: () => {} })

const get = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n'

describe('clients that disconnect', () => {
  test('the signal is aborted when requested after the client has disconnected', async () => {
    await using visit = await exchangesOf(get, 1)
    await visit.leave()
    expect(disconnectSignal(visit.exchanges[0]!).reason).toBeInstanceOf(ClientDisconnected)
  })

  test('a disconnect aborts the signals of all pipelined requests', async () => {
    await using visit = await exchangesOf(get.repeat(20), 20)
    const before = visit.exchanges.slice(0, 10).map(disconnectSignal)
    expect(before.some(({ aborted }) => aborted)).toBe(false)
    await visit.leave()
    expect([...before, ...visit.exchanges.map(disconnectSignal)].every(({ aborted }) => aborted)).toBe(true)
  })

  test('a disconnect destroys the response bodies, those sent later too', async () => {
    await using visit = await exchangesOf(get.repeat(3), 3)
    const [first, second, third] = visit.exchanges as [Exchange, Exchange, Exchange]
    const bodies = [endless(), endless(), endless()] as const
    const sent = [sendBody(first, 200, bodies[0], {}), sendBody(second, 200, bodies[1], {})]
    const settled = Promise.allSettled(sent)
    await visit.leave()
    await expect(sendBody(third, 200, bodies[2], {})).rejects.toThrow(ClientDisconnected)
    expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(bodies.map(({ destroyed }) => destroyed)).toEqual([true, true, true])
  })
})

test('the response body is destroyed after HEAD and when a header cannot be written', async () => {
  await using head = await exchangesOf(get.replace('GET', 'HEAD'), 1)
  const unread = endless()
  await sendBody(head.exchanges[0]!, 200, unread, {})
  expect(unread.destroyed).toBe(true)

  await using visit = await exchangesOf(get, 1)
  const unsent = endless()
  await expect(sendBody(visit.exchanges[0]!, 200, unsent, { 'content-disposition': 'a\nb' })).rejects.toThrow()
  expect(unsent.destroyed).toBe(true)
})

test('the signal is not aborted after the whole response was sent', async () => {
  await using visit = await exchangesOf(get, 1)
  const [exchange] = visit.exchanges as [Exchange]
  const signal = disconnectSignal(exchange)
  await sendBody(exchange, 200, Readable.from(['whole']), {})
  await visit.leave()
  expect(signal.aborted).toBe(false)
})
