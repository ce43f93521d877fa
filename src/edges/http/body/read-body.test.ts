import { mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { withEnoughTime } from '../../../../test/waiting.ts'
import { ParameterError } from '../../../api/params/parameter-error.ts'
import { UploadedFile } from '../../../api/params/uploaded-file.ts'
import { Failure } from '../../../kernel/failure.ts'
import type { BodyPace } from './pace.ts'
import { readBody } from './read-body.ts'
import type { BodySource } from './source.ts'
import { UnsupportedContent } from './unsupported-content.ts'

let tmpDir: string
beforeEach(async () => {
  tmpDir = await mkdtemp(join(tmpdir(), 'stithy-body-'))
})
afterEach(() => rm(tmpDir, { recursive: true }))

const limits = { bytes: 2000, fileBytes: (name: string) => (name === 'avatar' ? 10 : 100_000), files: 3 }

const source = (contentType: string | undefined, body: Readable | Buffer | string, method = 'POST'): BodySource => ({
  method,
  headers: {
    ...(contentType === undefined ? {} : { 'content-type': contentType }),
    ...(body instanceof Readable ? { 'transfer-encoding': 'chunked' } : { 'content-length': String(body.length) }),
  },
  body: typeof body === 'string' ? Buffer.from(body) : body,
  limits,
  tmpDir,
})

const paramsOf = async (...args: Parameters<typeof source>): Promise<unknown> =>
  structuredClone((await readBody(source(...args))).params)

const form = 'application/x-www-form-urlencoded'
const json = 'application/json'
const multipart = 'multipart/form-data; boundary=XX'
const crlf = (...lines: string[]): string => lines.join('\r\n')
const part = (disposition: string, content: string, type?: string): string =>
  crlf(
    '--XX',
    `Content-Disposition: form-data; ${disposition}`,
    ...(type === undefined ? [] : [`Content-Type: ${type}`]),
    '',
    content,
    '',
  )
const closing = '--XX--\r\n'

describe('D1-PARAM-ENCODINGS: a body of each kind', () => {
  test.for([
    ['a form', form, 'a=1&b[]=2', { a: '1', b: ['2'] }],
    ['a form in raw UTF-8', form, 'a=ü', { a: 'ü' }],
    ['a form with a charset', `${form}; charset=UTF-8`, 'a=1', { a: '1' }],
    ['a body without a content type', undefined, 'a=1', { a: '1' }],
    ['JSON', json, '{"a":1,"b":[true,null]}', { a: 1, b: [true, null] }],
    ['JSON with a charset', 'Application/JSON; charset=utf-8', '{"a":"ü"}', { a: 'ü' }],
    ['JSON of a kind', 'application/vnd.api+json', '{}', {}],
    ['JSON with a byte order mark', json, '\ufeff{"a":1}', { a: 1 }],
    ['JSON without anything', json, '', {}],
    ['JSON of blanks', json, ' \r\n', {}],
    ['JSON null', json, 'null', {}],
    ['multipart', multipart, part('name="a"', 'ü') + part('name="b[]"', '2') + closing, { a: 'ü', b: ['2'] }],
    [
      'multipart with a quoted boundary',
      'multipart/form-data; boundary="XX"',
      part('name="a"', '1') + closing,
      { a: '1' },
    ],
    ['multipart with an empty body', multipart, '', {}],
    ['multipart without parts', multipart, closing, {}],
    [
      'multipart with a part without a name',
      multipart,
      part('x="y"', '1') + part('name="a"', '2') + closing,
      { a: '2' },
    ],
    [
      'multipart with an empty file field',
      multipart,
      part('name="f"; filename=""', '', 'application/octet-stream') + closing,
      {},
    ],
    [
      'multipart with hashes in a list',
      multipart,
      part('name="a[][b]"', '1') + part('name="a[][c]"', '2') + part('name="a[][b]"', '3') + closing,
      { a: [{ b: '1', c: '2' }, { b: '3' }] },
    ],
  ] as const)('the body parser reads %s', async ([, contentType, body, params]) => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'GET']) {
      expect(await paramsOf(contentType, body, method)).toEqual(params)
      expect(await paramsOf(contentType, chunked(body, 3), method)).toEqual(params)
    }
  })

  const notAsDeclared = 'message body does not match declared format'

  test.for([
    ['broken JSON', json, '{"a":', notAsDeclared],
    ['a JSON list', json, '[1]', notAsDeclared],
    ['a JSON string', json, '"a"', notAsDeclared],
    ['JSON in Latin-1', json, Buffer.from('{"a":"ü"}', 'latin1'), 'parameters are not valid UTF-8'],
    ['a form in Latin-1', form, Buffer.from('a=ü', 'latin1'), 'parameters are not valid UTF-8'],
    ['multipart without boundary', 'multipart/form-data', 'x', 'multipart form has no boundary'],
    ['multipart without a boundary line', multipart, 'a=1', notAsDeclared],
    ['multipart that ends early', multipart, part('name="a"', '1'), notAsDeclared],
    ['multipart that ends in a file', multipart, part('name="f"; filename="x"', '1').slice(0, -2), notAsDeclared],
    ['multipart that ends in a header', multipart, '--XX\r\nContent-Disp', notAsDeclared],
    [
      'multipart text in Latin-1',
      multipart,
      Buffer.from(part('name="a"', 'ü') + closing, 'latin1'),
      'parameters are not valid UTF-8',
    ],
    ['too many files', multipart, part('name="f[]"; filename="x"', '1').repeat(4) + closing, 'too many files'],
    [
      'a file and a text of one name',
      multipart,
      part('name="f[]"; filename="x"', '1') + part('name="f[a]"', '1') + closing,
      'f is invalid',
    ],
  ] as const)('the body parser refuses %s', async ([, contentType, body, message]) => {
    for (const each of [Buffer.from(body as string), chunked(body, 5)]) {
      const failure = await readBody(source(contentType, each)).catch((error: unknown) => error)
      expect(failure).toBeInstanceOf(ParameterError)
      expect((failure as ParameterError).message).toBe(message)
    }
    expect(await readdir(tmpDir)).toEqual([])
  })

  test.for([
    ['JSON', json, JSON.stringify({ a: 'x'.repeat(2000) })],
    ['a form', form, `a=${'x'.repeat(2000)}`],
    ['multipart text', multipart, part('name="a"', 'x'.repeat(1200)) + part('name="b"', 'x'.repeat(1200)) + closing],
    ['a file', multipart, part('name="avatar"; filename="a.png"', 'x'.repeat(11)) + closing],
    [
      'the second of two files',
      multipart,
      part('name="f"; filename="x"', 'x'.repeat(100_000)) +
        part('name="g"; filename="x"', 'x'.repeat(100_001)) +
        closing,
    ],
    ['files of one field', multipart, part('name="f"; filename="x"', 'x'.repeat(60_000)).repeat(2) + closing],
  ] as const)('the body parser refuses %s that is too large', async ([, contentType, body]) => {
    for (const each of [Buffer.from(body), chunked(body, 999)]) {
      await expect(readBody(source(contentType, each))).rejects.toEqual(
        new Failure('too_large', 'Request Entity Too Large'),
      )
      expect(await readdir(tmpDir)).toEqual([])
    }
  })

  test('an encoded body is refused', async () => {
    const { headers, ...rest } = source(json, '{"a":1}')
    const encoded = (encoding: string) => readBody({ ...rest, headers: { ...headers, 'content-encoding': encoding } })
    await expect(encoded('gzip')).rejects.toEqual(new UnsupportedContent('encoding', 'gzip'))
    expect((await encoded('identity')).params).toEqual({ a: 1 })
  })

  test('an unknown content type is refused, but ignored without a body or on GET', async () => {
    for (const method of ['GET', 'HEAD', 'DELETE']) expect(await paramsOf('text/csv', 'a,b', method)).toEqual({})
    expect(await paramsOf('text/csv', '')).toEqual({})
    await expect(paramsOf('Text/CSV; x=y', 'a,b')).rejects.toEqual(new UnsupportedContent('type', 'text/csv'))
    await expect(paramsOf('text/csv', chunked('a,b', 1), 'PUT')).rejects.toThrow(
      "The provided content-type 'text/csv' is not supported.",
    )
  })
})

describe('D1-MULTIPART-FOR-FILES', () => {
  const upload =
    part('name="file"; filename="C:\\\\dir\\\\notes.txt"', 'hello\r\n--X', 'text/plain') +
    part('name="path"', 'x') +
    closing

  test('an uploaded file is written to disk and removed by cleanup', async () => {
    const body = await readBody(source(multipart, chunked(upload, 7)))
    const { file, path } = body.params
    expect(path).toBe('x')
    expect(file).toBeInstanceOf(UploadedFile)
    expect(file).toMatchObject({ fieldName: 'file', filename: 'notes.txt', contentType: 'text/plain', sizeBytes: 10 })
    expect(await readFile((file as UploadedFile).path, 'utf8')).toBe('hello\r\n--X')
    await body.cleanup()
    await body.cleanup()
    expect(await readdir(tmpDir)).toEqual([])
  })

  test('cleanup leaves an uploaded file that was renamed', async () => {
    {
      await using body = await readBody(source(multipart, upload.replace('hello', 'howdy')))
      await rename((body.params['file'] as UploadedFile).path, join(tmpDir, 'kept'))
    }
    expect(await readdir(tmpDir)).toEqual(['kept'])
  })

  test.for([
    ['a.txt', 'a.txt'],
    ['../../etc/passwd', 'passwd'],
    ['dir/..', ''],
    ['ü.txt', 'ü.txt'],
  ] as const)('the file name %s becomes %s', async ([sent, kept]) => {
    await using body = await readBody(source(multipart, part(`name="f"; filename="${sent}"`, '1') + closing))
    expect(body.params['f']).toMatchObject({ filename: kept })
  })

  // test/scenarios/memory.test.ts tests that they stay out of memory.
  test('an uploaded file of 64 MiB is read', async () => {
    const chunk = Buffer.alloc(64 * 1024)
    const body = Readable.from(
      (function* () {
        yield Buffer.from(part('name="f"; filename="big"', '').slice(0, -2))
        for (let sent = 0; sent < 64 * 1024 * 1024; sent += chunk.length) yield chunk
        yield Buffer.from(`\r\n${closing}`)
      })(),
      { objectMode: false },
    )
    await using parsed = await readBody({ ...source(multipart, body), limits: { ...limits, fileBytes: () => 2 ** 30 } })
    expect(parsed.params['f']).toMatchObject({ sizeBytes: 64 * 1024 * 1024 })
  })

  test('an incomplete request leaves no temporary files', async () => {
    for (const sent of [
      '',
      '--XX\r\nConte',
      part('name="f"; filename="x"', 'x'.repeat(5000)).slice(0, -9),
      part('name="a"', 'abc').slice(0, -3),
    ]) {
      const body = new Readable({ read() {} })
      body.push(sent)
      const parsed = readBody(source(multipart, body))
      setTimeout(() => body.destroy(), 20)
      await expect(parsed).rejects.toThrow('message body is incomplete')
      expect(await readdir(tmpDir)).toEqual([])
    }
  })
})

describe('request bodies over a real connection', () => {
  /** Answers each request with the result of reading its body. */
  async function serve(
    pace?: BodyPace,
  ): Promise<AsyncDisposable & { port: number; outcomes: string[]; received: Promise<void> }> {
    const outcomes: string[] = []
    const received = Promise.withResolvers<void>()
    const server = createServer(async (request, response) => {
      request.once('data', () => received.resolve())
      const outcome = await readBody({
        method: request.method!,
        headers: request.headers,
        body: request,
        limits: { ...limits, ...(pace && { pace }) },
        tmpDir,
      }).then(
        async (body) => {
          await body.cleanup()
          return `read ${Object.keys(body.params)}`
        },
        (error: Error) => error.message,
      )
      outcomes.push(outcome)
      response.setHeader('connection', 'close').end(outcome)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const close = async (): Promise<void> => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
    return {
      port: (server.address() as AddressInfo).port,
      outcomes,
      received: received.promise,
      [Symbol.asyncDispose]: close,
    }
  }

  test('a form with a file sent by fetch is read', async () => {
    await using server = await serve()
    const body = new FormData()
    body.append('file', new Blob(['hello']), 'a.txt')
    body.append('ids[]', '1')
    const response = await fetch(`http://127.0.0.1:${server.port}`, { method: 'POST', body })
    expect(await response.text()).toBe('read file,ids')
  })

  test('a client that sends too much can read the error', async () => {
    await using server = await serve()
    for (const body of [new FormData(), 'x'.repeat(5_000_000)]) {
      if (body instanceof FormData) body.append('avatar', new Blob(['x'.repeat(5_000_000)]), 'a.png')
      const headers = typeof body === 'string' ? { 'content-type': json } : {}
      const response = await fetch(`http://127.0.0.1:${server.port}`, { method: 'POST', body, headers })
      expect(await response.text()).toBe('Request Entity Too Large')
    }
  })

  test.for([json, form, multipart])('a client that disconnects during %s leaves no files', async (contentType) => {
    await using server = await serve()
    const socket = connect(server.port, '127.0.0.1')
    socket.on('error', () => {})
    socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Type: ${contentType}\r\nContent-Length: 1000\r\n\r\n`)
    socket.write(part('name="f"; filename="x"', 'abc'))
    await server.received
    socket.destroy()
    await expect.poll(() => server.outcomes).toEqual(['message body is incomplete'])
    expect(await readdir(tmpDir)).toEqual([])
    expect(await text((await fetch(`http://127.0.0.1:${server.port}`)).body as never)).toBe('read ')
  })

  /** Sends a body a byte at a time until the server closes the connection; resolves to what it answered. */
  async function answerToSlow(port: number, contentType: string): Promise<string> {
    const socket = connect(port, '127.0.0.1')
    let answer = ''
    socket.on('error', () => {})
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      answer += chunk
    })
    socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Type: ${contentType}\r\nContent-Length: 1000\r\n\r\n`)
    socket.write(part('name="f"; filename="x"', ''))
    const drops = setInterval(() => socket.write('x'), 20)
    await new Promise<void>((resolve) => socket.once('close', () => resolve()))
    clearInterval(drops)
    return answer
  }

  test.for([json, form, multipart])(
    '%s that arrives too slowly is refused and its connection closed',
    async (contentType) => {
      await using server = await serve({ graceMs: 80, bytesPerSecond: 1000 })
      // A client that writes at the moment of the close gets an error instead of the answer.
      await expect.poll(() => answerToSlow(server.port, contentType)).toContain('Request Timeout')
      await expect.poll(() => readdir(tmpDir)).toEqual([])
    },
  )

  test('a body that arrives slowly but above the minimum rate is read', () =>
    withEnoughTime([100, 1_000, 10_000], async (graceMs) => {
      await using server = await serve({ graceMs, bytesPerSecond: 100 })
      const pieces = Readable.from(
        (async function* () {
          yield '{"a": "'
          for (let i = 0; i < 6; i++) {
            await new Promise((resolve) => setTimeout(resolve, 0.3 * graceMs))
            yield 'x'.repeat(3 * graceMs)
          }
          yield '"}'
        })(),
      )
      const answer = await fetch(`http://127.0.0.1:${server.port}`, {
        method: 'POST',
        headers: { 'content-type': json },
        body: Readable.toWeb(pieces.map((piece: string) => Buffer.from(piece))) as ReadableStream,
        duplex: 'half',
      } as RequestInit)
      expect(await answer.text()).toBe('read a')
    }))
})

/** The body in pieces, so that no parser can rely on a whole name or boundary. */
function chunked(body: string | Buffer, sizeBytes: number): Readable {
  const bytes = Buffer.from(body as string)
  const chunks: Buffer[] = []
  for (let start = 0; start < bytes.length; start += sizeBytes) chunks.push(bytes.subarray(start, start + sizeBytes))
  return Readable.from(chunks, { objectMode: false })
}
