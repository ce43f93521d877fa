declare const brand: unique symbol

/** A string or number that only one module can create, so that two kinds of id cannot be confused. */
export type Brand<T, Name extends string> = T & { readonly [brand]: Name }
