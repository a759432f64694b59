import file from 'onnxruntime-web/ort-wasm-simd-threaded.asyncify.wasm?url';

/**
 * The absolute URL of the WebAssembly file of ONNX Runtime that comes with the package. It is named on the page,
 * where every bundler of an application finds and emits it; inside the finished worker file most would not.
 */
export const runtimeFile: string = new URL(file, import.meta.url).href;
