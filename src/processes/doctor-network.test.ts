import { expect, test } from 'vitest'
import { assessConnection } from './doctor-network.ts'

test('doctor names the address of a proxy that the service does not believe', () => {
  const seen = { address: '172.18.0.1', host: 'git.example.com', forwarded_for: true, forwarded_proto: 'https' }
  const findings = (believed: boolean) => assessConnection({ ...seen, believed }, 'https://git.example.com', 8080)
  expect(findings(false)).toMatchObject([
    { level: 'warning', advice: expect.stringMatching(/^Set STITHY_PROXIES=172\.18\.0\.1:/) },
  ])
  expect(findings(true)).toMatchObject([{ level: 'ok' }])
})
