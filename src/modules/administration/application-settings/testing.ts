import type { World } from '../../../../test/world.ts'

export const path = '/application/settings'
export const refusal = (name: string, ...texts: string[]) => ({ status: 400, json: { message: { [name]: texts } } })
export const errorOf = (error: string) => ({ status: 400, json: { error } })

/** Changes settings by the API, until the end of the test. */
export async function change(world: World, values: Record<string, unknown>) {
  await world.settings({})
  return world.root.put(path, values)
}

/** A certificate with its key, and the key of another certificate. Made for tests, so publicly known. */
export const certificate = `-----BEGIN CERTIFICATE-----
MIIBhjCCAS2gAwIBAgIUVRTYI8tk5HomMIMX7RyFojBv8v8wCgYIKoZIzj0EAwIw
GTEXMBUGA1UEAwwOc3RpdGh5LmV4YW1wbGUwHhcNMjYxMTIwMTQzOTU2WhcNMzYx
MTE3MTQzOTU2WjAZMRcwFQYDVQQDDA5zdGl0aHkuZXhhbXBsZTBZMBMGByqGSM49
AgEGCCqGSM49AwEHA0IABMGFbIYJSrVweTQvF1Jdco8L6VbE8k3uw/t5uhcW5LxU
ucQiyT9CqO2QB+JgudZKzsVZ/0ODfdizSAwQzP5zLRijUzBRMB0GA1UdDgQWBBSh
cJByYtEtD+BJY8V93tPiW4ccxDAfBgNVHSMEGDAWgBShcJByYtEtD+BJY8V93tPi
W4ccxDAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0cAMEQCIAwl8b7e5WTy
/s9vfMd5kdCcsn+17/uHSGRpoHkIGpTJAiA8ciD2aQ4fe3rh7KsxTnSmfb47JRq/
/Olkhg/YLbwpBg==
-----END CERTIFICATE-----
`

export const keyOfCertificate = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg7vxUFiBOswKGZ9rc
BBj9snWy6bLy/B0f+gVMUrKUYgehRANCAATBhWyGCUq1cHk0LxdSXXKPC+lWxPJN
7sP7eboXFuS8VLnEIsk/QqjtkAfiYLnWSs7FWf9Dg33Ys0gMEMz+cy0Y
-----END PRIVATE KEY-----
`

export const otherKey = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgnNiUcYpZVLqqbGVC
6ZXTqKu0kS+PB6DWBaywaGLuzkmhRANCAAS5b8ZSRVDXns6ta/fffkKzBKoeo2Bq
l7EPxA8IzpPIuN0p1y/8864gBvMvdkKfm9QwBUiauK1GGfEiVZzAHh3y
-----END PRIVATE KEY-----
`
