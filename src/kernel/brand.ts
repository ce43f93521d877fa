declare const brand: unique symbol

/** A string or number that only one module can make, so two kinds of id cannot be swapped. */
export type Brand<T, Name extends string> = T & { readonly [brand]: Name }
