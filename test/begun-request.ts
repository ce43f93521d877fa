import { once } from 'node:events'
import { type OutgoingHttpHeaders, request } from 'node:http'

/** A request without its body, which `complete` sends. `begun` resolves when the service reads the body: it has admitted the caller then. */
export function beginRequest(
  url: string,
  { method = 'POST', headers, auth }: { method?: string; headers: OutgoingHttpHeaders; auth?: string },
) {
  const sent = request(url, { method, headers: { ...headers, expect: '100-continue' }, ...(auth && { auth }) })
  const answered = once(sent, 'response').then(async ([response]) => {
    const chunks: Buffer[] = []
    for await (const chunk of response) chunks.push(chunk)
    return { status: Number(response.statusCode), text: Buffer.concat(chunks).toString('latin1') }
  })
  sent.flushHeaders()
  return {
    begun: once(sent, 'continue'),
    /** A part of the body. */
    send: (part: string | Buffer) => void sent.write(part),
    complete(body: string | Buffer) {
      sent.end(body)
      return answered
    },
  }
}
