package bloom

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// The interface of go-zero's bloom.Filter.
var _ interface {
	Add(data []byte) error
	AddCtx(ctx context.Context, data []byte) error
	Exists(data []byte) (bool, error)
	ExistsCtx(ctx context.Context, data []byte) (bool, error)
} = (*Filter)(nil)

func TestAKeyIsFreshOnce(t *testing.T) {
	f, err := OpenOrCreate("mem:", "f", 100_000, 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if found, err := f.Exists([]byte("a")); found || err != nil {
		t.Fatal(found, err)
	}
	if err := f.Add([]byte("a")); err != nil {
		t.Fatal(err)
	}
	if found, err := f.Exists([]byte("a")); !found || err != nil {
		t.Fatal(found, err)
	}
	keys := [][]byte{{}}
	for i := 0; i < 100_000; i++ {
		keys = append(keys, []byte(fmt.Sprint(i)))
	}
	for round, expected := range []int{len(keys), 0} {
		fresh, err := f.AddMany(context.Background(), keys)
		if err != nil {
			t.Fatal(err)
		}
		count := 0
		for _, is := range fresh {
			if is {
				count++
			}
		}
		if count > expected || count < expected-10 {
			t.Fatal(round, count)
		}
	}
}

func TestErrorsSayWhatIsWrong(t *testing.T) {
	if _, err := OpenOrCreate("nowhere:", "f", 0, 0); err == nil || !strings.Contains(err.Error(), "nowhere") {
		t.Fatal(err)
	}
	f, err := OpenOrCreate("mem:", "f", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	ended, end := context.WithCancel(context.Background())
	end()
	if err := f.AddCtx(ended, []byte("a")); err != context.Canceled {
		t.Fatal(err)
	}
	f.Close()
	if err := f.Add([]byte("a")); err == nil {
		t.Fatal("a closed filter takes keys")
	}
}

func BenchmarkAddMany(b *testing.B) {
	f, err := OpenOrCreate("mem:", "f", 10_000_000, 1e-6)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	keys := make([][]byte, 10_000)
	for i := 0; i < b.N; i += len(keys) {
		for k := range keys {
			keys[k] = []byte(fmt.Sprint(i + k))
		}
		if _, err := f.AddMany(context.Background(), keys); err != nil {
			b.Fatal(err)
		}
	}
}
