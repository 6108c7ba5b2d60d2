// Descriptor 3, the runner's end of the channel: bytes in and out.
//
// It is opened through the binding below `node:net`, which needs no permission either and spares every runner the 5 ms
// and 1.5 MiB that loading `node:net` costs. Deno's version is pinned, and the tests of the runner stand on this.

/** Position of what a read gave, and of whether a write is still under way, in `streamBaseState`. */
const readBytesOrError = 0;
const lastWriteWasAsync = 3;

/** Kind of pipe that can be read and written, as libuv numbers it. */
const socket = 0;

interface WriteRequest {
  oncomplete: (status: number) => void;
}

interface PipeHandle {
  onread: (data: ArrayBuffer | undefined) => void;
  /** All of these return 0, or an error number below it. */
  open(descriptor: number): number;
  readStart(): number;
  writeBuffer(request: WriteRequest, bytes: Uint8Array): number;
}

interface PipeBinding {
  Pipe: new (type: number) => PipeHandle;
}

interface StreamBinding {
  WriteWrap: new () => WriteRequest;
  streamBaseState: Int32Array;
}

/** What the runner needs of an open descriptor. */
export interface Descriptor {
  /** Returns whether the system has taken the bytes; if not, they must not be changed any more. */
  write(bytes: Uint8Array): boolean;
  /** Bytes that the system has not taken yet. */
  readonly waiting: number;
}

/** Opens it. `onEnd` is called when the other end is gone, or nothing can be said to it any more. */
export function openDescriptor(
  onBytes: (bytes: Uint8Array<ArrayBuffer>) => void,
  onEnd: () => void,
): Descriptor {
  const { Pipe } = binding<PipeBinding>('pipe_wrap');
  const { WriteWrap, streamBaseState } = binding<StreamBinding>('stream_wrap');
  const pipe = new Pipe(socket);
  let waiting = 0;
  pipe.onread = (data) => {
    const count = streamBaseState[readBytesOrError] ?? -1;
    if (count < 0 || data === undefined) onEnd();
    else if (count > 0) onBytes(new Uint8Array(data, 0, count));
  };
  if (pipe.open(3) !== 0 || pipe.readStart() !== 0) onEnd();
  return {
    get waiting() {
      return waiting;
    },
    write(bytes) {
      const request = new WriteWrap();
      const { length } = bytes;
      const onWritten = (status: number) => {
        waiting -= length;
        if (status < 0) onEnd();
      };
      // Not assigned as it is written down: V8 makes such a function among the objects that stay.
      request.oncomplete = onWritten;
      if (pipe.writeBuffer(request, bytes) !== 0) onEnd();
      if (streamBaseState[lastWriteWasAsync] === 0) return true;
      waiting += length;
      return false;
    },
  };
}

/** `process.binding`, which the types of Node do not know. */
function binding<Binding>(name: string): Binding {
  const read: unknown = Reflect.get(process, 'binding');
  if (typeof read !== 'function') throw new Error('this Deno has no process.binding');
  return read.call(process, name);
}
