// Package bloom is a filter for Go, by cgo over libeverseen.so: in memory, in files, or on Redis.
//
// Filter has the methods of go-zero's bloom.Filter, so it can take that filter's place. A filter that go-zero already
// keeps in Redis can be used together with go-zero once it has a name: everseen attach NAME --as gozero --key
// KEY --bits BITS.
package bloom

// #cgo pkg-config: everseen-c
// #include <stdlib.h>
// #include <everseen/everseen.h>
import "C"

import (
	"context"
	"errors"
	"runtime"
	"unsafe"
)

// A Filter answers whether a key was added before. Any number of goroutines may use it concurrently.
type Filter struct {
	filter *C.everseen_filter
}

// ErrLate says that a key was neither judged nor added: the filter has a window, which has moved beyond this clock.
var ErrLate = errors.New("everseen: a key is older than the window of the filter")

// OpenOrCreate opens the filter of this name, or creates it. An existing filter must have this capacity and
// errorRate; 0 means the default for a new filter, and any value for an existing one.
func OpenOrCreate(url, name string, capacity uint64, errorRate float64) (*Filter, error) {
	cURL, cName := C.CString(url), C.CString(name)
	defer C.free(unsafe.Pointer(cURL))
	defer C.free(unsafe.Pointer(cName))
	var options C.everseen_options
	options.size = C.sizeof_everseen_options
	options.capacity = C.uint64_t(capacity)
	options.error_rate = C.double(errorRate)
	f := &Filter{}
	err := call(func() C.everseen_status { return C.everseen_open_or_create(cURL, cName, &options, &f.filter) })
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Close closes the filter, which stays in its store. No other call may be in progress.
func (f *Filter) Close() {
	C.everseen_close(f.filter)
	f.filter = nil
}

// Add adds a key.
func (f *Filter) Add(data []byte) error { return f.AddCtx(context.Background(), data) }

// AddCtx adds a key, unless the context has ended. A call that has begun takes at most the URL's retry_for.
func (f *Filter) AddCtx(ctx context.Context, data []byte) error {
	_, err := f.AddMany(ctx, [][]byte{data})
	return err
}

// Exists returns whether a key was probably added before; false is certain.
func (f *Filter) Exists(data []byte) (bool, error) { return f.ExistsCtx(context.Background(), data) }

// ExistsCtx returns whether a key was probably added before, unless the context has ended.
func (f *Filter) ExistsCtx(ctx context.Context, data []byte) (bool, error) {
	verdicts, err := f.judge(ctx, [][]byte{data}, false)
	return err == nil && verdicts[0] == C.EVERSEEN_SEEN, err
}

// AddMany adds keys and returns for each whether it was fresh: certainly not added before, by any process.
func (f *Filter) AddMany(ctx context.Context, keys [][]byte) ([]bool, error) {
	verdicts, err := f.judge(ctx, keys, true)
	fresh := make([]bool, len(keys))
	for i := range verdicts {
		fresh[i] = verdicts[i] == C.EVERSEEN_FRESH
		if verdicts[i] == C.EVERSEEN_LATE && err == nil {
			err = ErrLate
		}
	}
	return fresh, err
}

// judge copies the keys into one buffer, since C may not keep pointers to Go pointers.
func (f *Filter) judge(ctx context.Context, keys [][]byte, adds bool) ([]C.uint8_t, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if f.filter == nil {
		return nil, errors.New("everseen: the filter is closed")
	}
	if len(keys) == 0 {
		return nil, nil
	}
	offsets := make([]C.int64_t, 1, len(keys)+1)
	bytes := []byte{}
	for _, key := range keys {
		bytes = append(bytes, key...)
		offsets = append(offsets, C.int64_t(len(bytes)))
	}
	bytes = append(bytes, 0) // so that it is not empty
	verdicts := make([]C.uint8_t, len(keys))
	err := call(func() C.everseen_status {
		if adds {
			return C.everseen_add_offsets64(f.filter, unsafe.Pointer(&bytes[0]), &offsets[0], C.size_t(len(keys)), nil,
				0, &verdicts[0])
		}
		return C.everseen_check_offsets64(f.filter, unsafe.Pointer(&bytes[0]), &offsets[0], C.size_t(len(keys)), nil, 0,
			&verdicts[0])
	})
	return verdicts, err
}

// call runs a function of the library and converts its status to an error. The message is that of the thread.
func call(function func() C.everseen_status) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if function() == C.EVERSEEN_OK {
		return nil
	}
	return errors.New("everseen: " + C.GoString(C.everseen_last_error()))
}
